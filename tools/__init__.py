"""Measures, searches, and makes the pages: what `./lab` runs of Python. A folder is a kind of work, a file one job."""

import sys

sys.dont_write_bytecode = True  # the source tree is no place for __pycache__
