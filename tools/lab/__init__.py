"""Parts of ./lab."""
