"""JUnit's XML, for servers that show tests: a suite of cases, of which some have failed."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections.abc import Sequence
from typing import NamedTuple


def clean(told: str) -> str:
    """Without what XML can't hold: a submission's own names may stand in a message."""
    return "".join(c if c in "\n\t" or " " <= c < "\ud800" or "\ue000" <= c <= "\ufffd" else "?" for c in told)


class Case(NamedTuple):
    name: str
    failure: tuple[str, str] | None = None  # the message, and the whole text
    seconds: float | None = None


def suite(name: str, cases: Sequence[Case], seconds: float | None = None) -> xml.Element:
    failures = sum(case.failure is not None for case in cases)
    found = timed("testsuite", seconds, name=name, tests=str(len(cases)), failures=str(failures))
    for case in cases:
        element = timed("testcase", case.seconds, classname=name, name=clean(case.name))
        if case.failure:
            message, whole = map(clean, case.failure)
            xml.SubElement(element, "failure", message=message).text = whole
        found.append(element)
    return found


def timed(tag: str, seconds: float | None, **attributes: str) -> xml.Element:
    return xml.Element(tag, attributes | ({} if seconds is None else {"time": f"{seconds:.3f}"}))


def text(root: xml.Element) -> str:
    xml.indent(root)
    return xml.tostring(root, encoding="unicode") + "\n"
