"""The audit of the sources: docs/sources_audit.json as tables of docs/sources.md."""

import collections

from tools.pages.data import Data
from tools.repository import DOCS, Json, read_json
from tools.tables import table

AUDIT = DOCS / "sources_audit.json"


def link(where: str) -> str:
    """To a place in the repository, from a page in docs/."""
    name = where.split("#")[0].split("/")[-1]
    return f"[{name}]({where.removeprefix('docs/') if where.startswith('docs/') else '../' + where})"


def row(item: Json) -> list[str]:
    what = item["what"] + (f" *Missing: {item['gap']}*" if "gap" in item else "")
    how = f"`{item['command']}`" if item["command"] else item.get("how", "-")
    evidence = item["evidence"].split("::")[0]
    return [str(item["item"]), what.replace("|", "\\|"), link(item["where"]), how.replace("|", "\\|"), link(evidence)]


def block_sources_audit(data: Data) -> list[str]:
    """How much of each document is here; and each item, with its place, a command and what stands behind it."""
    audit = read_json(AUDIT)
    items: dict[str, list[Json]] = {name: [] for name in audit["documents"]}
    for item in audit["items"]:
        items[item["document"]].append(item)
    rows = []
    for name, title in audit["documents"].items():
        holds = collections.Counter(item["holds"] for item in items[name])
        rows.append([title, str(len(items[name])), *(str(holds[each]) for each in ("works", "partial", "missing"))])
    rows.append(["all", *(str(sum(int(r[i]) for r in rows)) for i in range(1, 5))])
    lines = table(["document", "items", "here", "in part", "missing"], rows, left=("document",))
    for name, title in audit["documents"].items():
        lines += ["", f"<details><summary>{title}: {len(items[name])} items</summary>", ""]
        head = ["item", "what the document has", "where", "command", "behind it"]
        lines += [*table(head, [row(item) for item in items[name]], left=head[1:]), "", "</details>"]
    return lines
