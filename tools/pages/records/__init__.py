"""The measurements as blocks and figures need them."""
