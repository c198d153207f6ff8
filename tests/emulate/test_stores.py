#!/usr/bin/env python3
"""Which assignments common/cmake/stores.py recognises: of calls and operators, and no declarations.

usage: test_stores.py
"""

import pathlib
import re
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "common/cmake"
REWRITE = "import sys, preprocessed; print(preprocessed.rewrite(sys.stdin.read()).text)"
# Of the calls of yes() all are handed on, of those of no() none.
TEXT = """# 1 "program.cu"
enum Kind { A = 1 << no(1), B = 2 };
enum class Other : unsigned { C = no(2) };
struct S { S& operator=(const S&) = default; virtual void v() = 0; int x = no(3); };
template <class T = int, int n = no(4)> void h(int a = no(5));
using X = Y<no(6)>;
void k(S* p, S& r, int i) {
  int a = no(7), b = no(8);
  *p = yes(1);
  p[i] = yes(2) + 1;
  p->x = i + yes(3);
  (*p).x = yes(4);
  r = yes(5);
  if (i) r = yes(6); else r = yes(7);
  for (; i < 3; ++i) *p = yes(8);
  auto [c, d] = no(9);
  i += no(10); bool e = i == no(11);
  Pair v = {.x = no(12), .y = 2};
  auto l = [x = no(13), &i, =](int y) { r = yes(9); };
  r.operator=(no(14));
  *p = *r; p[0] = p[1]; r = other; r = {no(15)};
  switch (i) { case 3: r = yes(10); }
}
"""


class Stores(unittest.TestCase):
    def test_assignments_that_are_handed_on(self) -> None:
        command = [sys.executable, "-B", "-c", REWRITE]
        done = subprocess.run(command, cwd=FOLDER, input=TEXT, text=True, capture_output=True, check=True)
        handed_on = re.findall(r"::simt::stored %=([^;]*);", done.stdout)
        self.assertEqual(
            [re.search(r"\w+\(\d+\)", each)[0] for each in handed_on],  # type: ignore[index]
            [f"yes({i})" for i in range(1, 11)],
        )
        text, _, names = done.stdout.replace(" ::simt::stored %=", "").rpartition("\nnamespace { const ::simt::Kernel")
        self.assertEqual(text.rstrip(), TEXT.rstrip())
        self.assertRegex(names, r"\ANames [^\n]*}\s*\Z")


if __name__ == "__main__":
    unittest.main()
