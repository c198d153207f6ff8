"""The course: assignments under course/, and what grades them. docs/course.md is the teacher's guide.

Rubrics are YAML. Where this Python has no reader of it, that of .lab/python goes on.
"""

import os
import sys

from tools.command_line import fail
from tools.repository import ROOT

try:
    import yaml  # noqa: F401
except ImportError:
    python = ROOT / ".lab" / "python" / "bin" / "python"
    if python.exists() and sys.prefix != str(ROOT / ".lab" / "python"):
        os.execv(python, [str(python), *sys.orig_argv[1:]])
    fail("rubrics need PyYAML: `./lab grade` fetches it")
