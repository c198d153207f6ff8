"""A grade as people and other programs read it."""

from __future__ import annotations

import html
import textwrap

from tools.junit import Case, suite
from tools.junit import text as text_of_junit
from tools.repository import Json


def text(result: Json) -> str:
    lines = [f"{result['assignment']}: {result['title']}"]
    for item in result["items"]:
        lines.append(
            f"  {item['points']:5g} of {item['of']:3g}  {item['name']}{' (hidden problems)' if item['hidden'] else ''}"
        )
        for told in item["feedback"]:
            for line in told.splitlines():
                lines += textwrap.wrap(line, 92, initial_indent=" " * 15, subsequent_indent=" " * 15)
    for item in result["later"]:
        who = "on a GPU" if item["kind"] == "speed" else "by the teacher"
        lines.append(f"      - of {item['of']:3g}  {item['name']} ({who})")
    lines.append(f"  {result['points']:5g} of {result['of']:3g}  in all")
    return "\n".join(lines) + "\n"


def junit(result: Json) -> str:
    cases = []
    for item in result["items"]:
        message = f"{item['points']:g} of {item['of']:g} points"
        failure = (message, "\n".join(item["feedback"])) if item["points"] < item["of"] else None
        cases.append(Case(item["name"], failure))
    return text_of_junit(suite(result["assignment"], cases))


def gradescope(result: Json) -> Json:
    """https://gradescope-autograders.readthedocs.io/en/latest/specs/ : results.json."""
    return {
        "score": result["points"],
        "output": f"{result['title']}: {result['points']:g} of {result['of']:g} points that a machine gives",
        "visibility": "visible",
        "tests": [
            {
                "name": item["name"],
                "score": item["points"],
                "max_score": item["of"],
                "status": "passed" if item["points"] == item["of"] else "failed",
                "output": "\n".join(item["feedback"]),
                "visibility": "visible",
            }
            for item in result["items"]
        ],
    }


def classroom(result: Json) -> str:
    """A line per test, and the sum last: what a forge's classroom reads off a log."""
    lines = [
        f"{'pass' if item['points'] == item['of'] else 'fail'} {item['points']:g}/{item['of']:g} {item['name']}"
        for item in result["items"]
    ]
    return "\n".join([*lines, f"Points {result['points']:g}/{result['of']:g}"]) + "\n"


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
body {{ font: 16px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 1rem auto; padding: 0 1rem }}
body {{ color: #111; background: #fff }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #ccc; vertical-align: top }}
td.points {{ text-align: right; white-space: nowrap }}
pre {{ white-space: pre-wrap; margin: .2rem 0 0; font-size: .9em }}
</style></head><body><h1>{title}</h1><p>{who}: <strong>{points:g} of {of:g}</strong> points that a machine gives.</p>
<table><thead><tr><th>points</th><th>for</th></tr></thead><tbody>
{rows}
</tbody></table></body></html>
"""


def page(who: str, result: Json) -> str:
    """For one student: stands alone."""
    rows = []
    for item in result["items"]:
        told = html.escape("\n".join(item["feedback"]))
        rows.append(
            f'<tr><td class="points">{item["points"]:g} of {item["of"]:g}</td>'
            f"<td>{html.escape(item['name'])}{f'<pre>{told}</pre>' if told else ''}</td></tr>"
        )
    for item in result["later"]:
        rows.append(f'<tr><td class="points">- of {item["of"]:g}</td><td>{html.escape(item["name"])}, later</td></tr>')
    title = html.escape(f"{result['assignment']}: {result['title']}")
    return PAGE.format(
        title=title, who=html.escape(who), points=result["points"], of=result["of"], rows="\n".join(rows)
    )
