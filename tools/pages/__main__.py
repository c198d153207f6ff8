"""`python3 -m tools.pages [--check]` and `./lab pages [--check]`."""

from tools.command_line import run
from tools.pages.generate import main

run(main)
