#!/usr/bin/env python3
"""A known gap of stages: of the store in *p = f(), where f returns a structure and is not inlined, g++ tells nobody.
With a variable in between it does. If the first test fails, g++ has closed the gap: docs/concepts/cpu_executor.md lists
it. In whole programs common/cmake/stores.py closes it.

usage: test_unseen_stores.py BUILD
"""

import pathlib
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop())
CODE = """
struct Pair { float a, b; };
[[gnu::noinline]] Pair made(int i) { return {float(i), 1.0f}; }
void at_once(Pair* to) { *to = made(1); }
void by_a_variable(Pair* to) { const Pair pair = made(1); *to = pair; }
"""


def hooks(function, level):
    """How many calls before a write there are."""
    words = (BUILD / "emulate/compile").read_text().split(";")
    command = [*words, level, "-S", "-x", "c++", "-", "-o", "-"]
    text = subprocess.run(command, input=CODE, check=True, capture_output=True, text=True).stdout
    (body,) = [part.split(".cfi_endproc")[0] for part in text.split(f"{function}P4Pair:")[1:]]
    return body.count("__tsan_write")


class UnseenStores(unittest.TestCase):
    def test_a_result_that_is_stored_at_once_is_not_seen(self):
        for level in ("-O0", "-O2"):
            self.assertEqual(hooks("_Z7at_once", level), 0, level)

    def test_with_a_variable_it_is(self):
        for level in ("-O0", "-O2"):
            self.assertGreater(hooks("_Z13by_a_variable", level), 0, level)


if __name__ == "__main__":
    unittest.main()
