"""Of the words on standard input the one that a mistyped word is nearly; nothing if none is near.

usage: python3 -m tools.lab.suggest WORD
"""

import difflib
import sys


def main() -> None:
    word, words = sys.argv[1].lower(), sys.stdin.read().split()
    # A stage may be meant by its id, its file's name, or the name behind the number.
    keys = {part: each for each in words for part in (each, each.split("/")[-1], each.split("_", 1)[-1])}
    for near in difflib.get_close_matches(word, keys, n=1, cutoff=0.65):
        print(keys[near])


if __name__ == "__main__":
    main()
