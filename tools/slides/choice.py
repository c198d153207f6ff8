"""Which stages a command line means: 01-05, 01,04,09b, tsm/01-03, a family, or a path of docs/README.md."""

import re

from tools.command_line import fail
from tools.repository import DOCS, FAMILIES, stages
from tools.rungs import number_of

# The name of a path, and how its paragraph in docs/README.md begins. The longer one adds its table to the shorter's.
PATHS = {"lecture": ("Six rungs",), "course": ("Six rungs", "Twelve rungs")}
SHOWN = re.compile(r"[^\w/,.:=+-]")


def path_of(name: str) -> list[str]:
    """The stages that docs/README.md links in the tables behind the path's paragraphs, in the ladder's order."""
    text = (DOCS / "README.md").read_text()
    linked: set[str] = set()
    for begin in PATHS[name]:
        table = re.search(rf"^\*\*{begin}\b.*?(?=^\*\*|^## )", text, re.S | re.M)
        if not table:
            fail(f"docs/README.md has no path that begins with '{begin}'")
        linked.update(re.findall(r"^\| \[[^\]]*\]\((?:stages)/(\w+)\.md\)", table[0], re.M))
    return [stage for stage in stages() if stage.removeprefix("sgemm/") in linked]


def title_of(stage: str) -> str:
    """The heading of its page."""
    page = DOCS / FAMILIES[stage.split("/")[0]] / f"{stage.split('/')[1]}.md"
    return page.read_text().split("\n", 1)[0].removeprefix("# ")


def title_of_path(name: str) -> str:
    """As docs/README.md has it, without its full stop."""
    found = re.search(rf"^\*\*({PATHS[name][-1]}\b[^*]*?)\.?\*\*", (DOCS / "README.md").read_text(), re.M)
    return found[1] if found else name


def of_family(family: str) -> list[str]:
    return [stage for stage in stages() if stage.startswith(f"{family}/")]


def matches(family: str, number: str) -> list[str]:
    """Those with this number; of 06 also 06a and 06b."""
    ladder = of_family(family)
    exact = [stage for stage in ladder if number in (number_of(stage), stage.split("/")[1])]
    found = exact or [stage for stage in ladder if re.fullmatch(rf"{re.escape(number)}[a-z]", number_of(stage))]
    if not found:
        name = number if family == "sgemm" else f"{family}/{number}"
        fail(f"no stage '{SHOWN.sub(' ', name)[:60]}'; `./lab list` shows them all, `./lab slides --help` names them")
    return found


def part(text: str) -> list[str]:
    """Between two commas."""
    if text in PATHS:
        return path_of(text)
    if text in FAMILIES:
        return of_family(text)
    family, slash, numbers = text.rpartition("/")
    family = family if slash else "sgemm"
    if family not in FAMILIES:
        fail(f"no family '{SHOWN.sub(' ', family)[:60]}': {', '.join(FAMILIES)}")
    begin, dash, end = numbers.partition("-")
    found = matches(family, begin)
    if not dash:
        return found
    until = matches(family, end)
    ladder = of_family(family)
    first, last = ladder.index(found[0]), ladder.index(until[-1])
    if first > last:
        fail(f"'{text}' goes down the ladder: name the lower stage first, as in {end}-{begin}")
    return ladder[first : last + 1]


def stages_of(text: str) -> list[str]:
    """family/NN_name of each, once, in the order in which they are named."""
    parts = [each.strip() for each in text.split(",")]
    if not all(parts):
        fail("slides need stages: ./lab slides 01-05, 01,04,09b, tsm/01-03, or lecture")
    return list(dict.fromkeys(stage for each in parts for stage in part(each)))
