"""Programs that measure; `./lab measure` lists them."""
