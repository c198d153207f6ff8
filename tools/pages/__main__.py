"""`python3 -m tools.pages [--check]` and `./lab pages [--check]`."""

from tools.pages.generate import main

main()
