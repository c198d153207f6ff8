#!/usr/bin/env python3
"""./lab completion: a person types a part of a word and Tab, and the shell puts in the rest.

usage: test_completion.py bash|zsh       skips loudly where there is no such shell
"""

import os
import pathlib
import pty
import re
import select
import shutil
import signal
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
shell = ""  # set at the bottom, from the command line

SHELLS = {
    # What starts it without anybody's settings, and what makes Ctrl-X show the line so far and empty it.
    "bash": (
        ["bash", "--norc", "--noprofile", "-i"],
        r"""show() { printf '\n<<%s>>\n' "$READLINE_LINE"; READLINE_LINE=; }; bind -x '"\C-x": show'""",
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        r"""show() { printf '\n<<%s>>\n' "$BUFFER"; BUFFER=; zle redisplay }; zle -N show; bindkey -r '^X'; """
        r"""bindkey '^X' show; KEYTIMEOUT=1""",
    ),
}
LIMIT = 30  # seconds: compinit reads all of zsh's own completions


class Terminal:
    """A shell that takes its input from a terminal."""

    def __init__(self, folder: pathlib.Path) -> None:
        command, prepare = SHELLS[shell]
        environment = {**os.environ, "TERM": "vt100", "PS1": "ready> ", "ZDOTDIR": "/nonexistent", "HISTFILE": ""}
        environment["PATH"] += f":{ROOT}"
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.text = ""
        # The echo of a command has the quotes; what it prints has not.
        self.type(f'{prepare}; eval "$({ROOT}/lab completion {shell})"; echo "is "ready\n')
        self.wait_for("is ready")

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def wait_for(self, pattern: str) -> str:
        end = time.monotonic() + LIMIT
        while not (found := re.search(pattern, self.text)):
            if time.monotonic() > end or not select.select([self.master], [], [], LIMIT)[0]:
                raise AssertionError(f"no {pattern} in {self.text[-2000:]!r}")
            self.text += os.read(self.master, 4096).decode(errors="replace")
        self.text = self.text[found.end() :]
        return found.group()

    def completed(self, line: str) -> str:
        """What Tab makes of a line."""
        self.type(line + "\t")
        time.sleep(0.05)  # a key that comes while zsh lists matches would end the list
        self.type("\x18")
        return self.wait_for(r"<<[^>]*>>")[2:-2]

    def close(self) -> None:
        os.kill(self.process, signal.SIGHUP)
        os.close(self.master)
        os.waitpid(self.process, 0)


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.terminal = Terminal(ROOT)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.terminal.close()

    def completes(self, line: str, expected: str) -> None:
        self.assertEqual(self.terminal.completed(line), expected)

    def test_commands(self):
        self.completes("./lab chec", "./lab check ")
        self.completes("./lab mut", "./lab mutate ")
        self.completes("./lab completio", "./lab completion ")
        self.completes("./lab lis", "./lab list ")  # the first line of the list of commands
        self.completes("./lab setu", "./lab setup ")  # and the last
        self.completes("./lab nosuch", "./lab nosuch")

    def test_stages(self):
        for command in ("run", "check", "diff", "compare", "show", "map", "mutate"):
            self.completes(f"./lab {command} 01_n", f"./lab {command} 01_naive ")
        self.completes("./lab check tsm/11", "./lab check tsm/11_tsmm_rows ")
        self.completes("./lab check tensorcore/06a", "./lab check tensorcore/06a_householder ")
        self.completes("./lab compare 03_shared_tile 04_c", "./lab compare 03_shared_tile 04_conflict_free ")

    def test_exercises(self):
        self.completes("./lab exercise tsm/13", "./lab exercise tsm/13b.1 ")
        self.completes("./lab exercise 04", "./lab exercise 04.1 ")

    def test_what_several_have_in_common(self):
        self.completes("./lab check 06b", "./lab check 06b_thread_1d_8 ")
        self.completes("./lab check 06", "./lab check 06")
        self.completes("./lab check tens", "./lab check tensorcore/")

    def test_files_elsewhere(self):
        self.completes("./lab batch CONTRIB", "./lab batch CONTRIBUTING.md ")

    def test_lab_of_another_folder(self):
        """The stages are those of the ./lab that is typed, wherever the user stands."""
        terminal = Terminal(ROOT / "docs")
        try:
            for lab in ("../lab", "lab", str(ROOT / "lab")):
                self.assertEqual(terminal.completed(f"{lab} check 01_n"), f"{lab} check 01_naive ")
        finally:
            terminal.close()


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in SHELLS:
        sys.exit(__doc__)
    shell = sys.argv.pop()
    if not shutil.which(shell):
        print(f"*** SKIPPED, NOT RUN: there is no {shell} ***")
        sys.exit(0)
    unittest.main()
