"""The formats in which other programs read a grade, and whether a text keeps to them."""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys

from tools.repository import ROOT, Json

HERE = pathlib.Path(__file__).resolve().parent / "formats"
# The last line is what GitHub Classroom's reporter wrote, too (classroom-resources/autograding-grading-reporter,
# src/notify-classroom.js). Classroom itself has ended, and nothing else is published of what a log must look like.
CLASSROOM = re.compile(r"((pass|fail) [\d.]+/[\d.]+ .+\n)+Points [\d.]+/[\d.]+\n")

try:
    import jsonschema
    import xmlschema

    MISSING = ""
except ImportError:
    python = ROOT / ".lab" / "python" / "bin" / "python"
    if python.exists() and sys.prefix != str(ROOT / ".lab" / "python"):
        os.execv(python, [str(python), *sys.orig_argv[1:]])
    MISSING = "needs jsonschema and xmlschema, which ./lab test --full installs"
    if os.environ.get("CI"):
        sys.exit(MISSING)


def complaints_of_gradescope(result: Json) -> list[str]:
    schema = json.loads((HERE / "gradescope.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(result)]


def complaints_of_junit(text: str) -> list[str]:
    return [str(error.reason) for error in xmlschema.XMLSchema(HERE / "junit.xsd").iter_errors(text)]
