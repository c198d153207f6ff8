"""Searches for the best kernel; `./lab measure` lists them."""
