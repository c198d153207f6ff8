"""The accesses of some rungs, step by step."""

import html
import pathlib
import re

from tools.repository import ROOT
from tools.site.page import bar, html_page
from tools.site.trace import html_of, traced

STAGES = ("01", "02", "03", "04", "09a", "13b", "15")  # each is another lesson on addresses
GEMM = ROOT / "build" / "cpu" / "bin" / "gemm"  # traces need the executor


def available() -> bool:
    """Whether write() has what it needs: a CPU build."""
    return GEMM.exists()


def first_sentence(number: str) -> str:
    """What the head of a stage of the first ladder begins with."""
    head = next((ROOT / "stages").glob(f"{number}_*.cu")).read_text().split("\n//\n", 1)[0]
    return re.split(r"(?<=\.)\s", head.removeprefix("// ").replace("\n// ", " "), maxsplit=1)[0]


def write(path: pathlib.Path) -> None:
    """For the site: a page that leads to trace_03.html and so on, which it puts beside itself."""
    items = []
    for stage in STAGES:
        page = path.with_name(f"trace_{stage}.html")
        page.write_text(html_of(traced(GEMM, stage, [], 120)))
        items.append(f'<li><a href="{page.name}">{html.escape(first_sentence(stage))}</a></li>')
    own = "<p>Of any other stage, and of one of yours: <code>./lab trace 05 --html trace.html</code></p>"
    body = f"{bar('Traces', ('All documents', '../index.html'))}<main><ul>{''.join(items)}</ul>{own}</main>"
    path.write_text(html_page("Traces", body, styles=("plot.css",)))
