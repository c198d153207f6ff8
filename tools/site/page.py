"""One HTML file with all that it needs in it: the house's style, its own script, and its data as JSON."""

import html
import json
import pathlib
from typing import Any

ASSETS = pathlib.Path(__file__).with_name("assets")


def html_page(
    title: str, body: str, *, data: Any = None, scripts: tuple[str, ...] = (), styles: tuple[str, ...] = ()
) -> str:
    """`scripts` and `styles` are files of assets/, after base.js and base.css; a script finds its data as window.DATA.

    base.js puts a button for the theme (light, dark, projector) into <header class="bar">, which `body` begins with."""
    css = "\n".join((ASSETS / name).read_text() for name in ("base.css", *styles))
    js = "\n".join((ASSETS / name).read_text() for name in ("base.js", *scripts))
    # "</" would end the script element.
    packed = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    return document(
        title,
        f"<style>\n{css}</style>",
        f"{body}\n<script>window.DATA = {packed};</script>\n<script>\n{js}</script>",
    )


def document(title: str, head: str, body: str) -> str:
    """The frame of every page that MkDocs does not make."""
    return f"""<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<link rel="icon" href="data:,">
{head}
</head>
<body>
{body}
</body>
</html>
"""


def bar(title: str, *links: tuple[str, str]) -> str:
    """The head of a page: its title and links (text, address)."""
    parts = "".join(f'<a href="{html.escape(address)}">{html.escape(text)}</a>' for text, address in links)
    return f'<header class="bar"><h1>{html.escape(title)}</h1><nav>{parts}</nav></header>'
