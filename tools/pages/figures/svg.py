"""A figure's SVG as short as it can be without looking different."""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Collection, Iterator

Element = ElementTree.Element
SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
COORDINATES = {"M": 2, "L": 2, "C": 6, "Q": 4}


def number(found: re.Match[str]) -> str:
    """Coordinates with two digits behind the point, a hundredth of a pixel; factors below 1 with four."""
    value = float(found[0])
    return f"{value:.{2 if abs(value) >= 1 else 4}f}".rstrip("0").rstrip(".")


def short_numbers(text: str) -> str:
    """Not in names and colours."""
    return re.sub(r"(?<![\w.#])-?\d+\.\d{3,}(?![\w.])", number, text)


def parts(path: str) -> Iterator[tuple[str, list[int]]]:
    """Each command in either case, with the coordinates of one of it, absolute, in hundredths."""
    x = y = start_x = start_y = 0
    for command, text in re.findall(r"([MLHVCQZmlhvcqz])([^A-Za-z]*)", path):
        values = [round(float(value) * 100) for value in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", text)]
        kind = command.upper()
        if kind == "Z":
            x, y = start_x, start_y
            yield "Z", []
        while values:
            here = (x, y) if command.islower() else (0, 0)
            if kind in "HV":
                moved = values.pop(0) + here[kind == "V"]
                x, y = (moved, y) if kind == "H" else (x, moved)
                yield "L", [x, y]
                continue
            count = COORDINATES[kind]
            points = [value + here[i % 2] for i, value in enumerate(values[:count])]
            del values[:count]
            x, y = points[-2:]
            yield kind, points
            if kind == "M":
                start_x, start_y, kind = x, y, "L"
                command = "l" if command == "m" else "L"


def joined(hundredths: list[int]) -> str:
    """With a space only where a sign or a point doesn't part two numbers."""
    text = ""
    for value in hundredths:
        digits = re.sub(r"^(-?)0\.", r"\1.", f"{value / 100:.2f}".rstrip("0").rstrip("."))
        apart = not text or digits.startswith("-") or (digits.startswith(".") and "." in re.split("[ -]", text)[-1])
        text += digits if apart else f" {digits}"
    return text


def short_path(path: str) -> str:
    """Relative to the point before, to a hundredth."""
    text, before = "", ""
    x = y = start_x = start_y = 0
    for kind, points in parts(path):
        if kind == "Z":
            text, before, x, y = text + "z", "z", start_x, start_y
            continue
        steps = [value - (x, y)[i % 2] for i, value in enumerate(points)]
        command = kind.lower()
        if command == "l" and 0 in steps:
            command, steps = ("h", steps[:1]) if steps[1] == 0 else ("v", steps[1:])
        elif not text:
            command = "M"
        numbers = joined(steps)
        text += numbers if command == before and numbers.startswith("-") else f" {numbers}" if command == before else ""
        text += f"{command}{numbers}" if command != before else ""
        x, y = points[-2:]
        if kind == "M":
            start_x, start_y, command = x, y, ""
        before = command
    return text


def referenced(root: Element) -> set[str]:
    """The names that something refers to."""
    return set(re.findall(r"#(\w+)", " ".join(value for element in root.iter() for value in element.attrib.values())))


def shorten_attributes(root: Element) -> None:
    """Without names that nothing refers to, and turns by 0 degrees."""
    wanted = referenced(root)
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if (key == "id" and value not in wanted) or (key == "transform" and value.startswith("rotate(-0 ")):
                del element.attrib[key]
            elif key == "d":
                element.set(key, short_path(value))
            elif not key.endswith("href"):
                element.set(key, short_numbers(value))


def shorten_names(root: Element) -> None:
    """Those that something refers to; matplotlib's are hashes."""
    named = [element for element in root.iter() if "id" in element.attrib]
    short = {element.attrib["id"]: f"i{n}" for n, element in enumerate(named)}
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "id":
                element.set(key, short[value])
            else:
                element.set(key, re.sub(r"(?<=#)\w+", lambda name: short.get(name[0], name[0]), value))


def join_groups(element: Element) -> None:
    """Without groups that say nothing, and space between elements."""
    if element.tag == f"{{{SVG}}}text":
        return
    element.text = (element.text or "").strip()
    for child in element:
        child.tail = None
        join_groups(child)
    for at in reversed(range(len(element))):
        if element[at].tag == f"{{{SVG}}}g" and not element[at].attrib:
            element[at : at + 1] = list(element[at])


def share(parent: Element, attribute: str, least: int, kept: Collection[str] = ()) -> None:
    """At least so many neighbours with the same value of an attribute in one group that has it, if it isn't `kept`."""
    for child in parent:
        share(child, attribute, least, kept)
    at = 0
    while parent.tag not in (f"{{{SVG}}}text", f"{{{SVG}}}defs") and at < len(parent):
        value = parent[at].get(attribute)
        same = 1
        while value and at + same < len(parent) and parent[at + same].get(attribute) == value:
            same += 1
        if value and same >= least and value not in kept:
            group = ElementTree.Element(f"{{{SVG}}}g", {attribute: value})
            for child in list(parent[at : at + same]):
                del child.attrib[attribute]
                group.append(child)
            parent[at : at + same] = [group]
        at += 1


def share_styles(root: Element) -> None:
    """Each style that several elements have as a class, because most of a text's bytes are the names of fonts."""
    styles = Counter(element.get("style") for element in root.iter() if element.get("style"))
    names = {style: f"s{n}" for n, style in enumerate(style for style, count in styles.items() if count > 1)}
    for element in root.iter():
        if element.get("style") in names:
            element.set("class", names[element.attrib.pop("style")])
    rules = "".join(f"\n.{name}{{{style}}}" for style, name in names.items())
    sheet = next(root.iter(f"{{{SVG}}}style"))
    sheet.text = (sheet.text or "") + rules
    whole = {names[style] for style in names if re.search(r"(?<![\w-])opacity", style)}  # of a group it is another one
    share(root, "class", 3, whole)


def shortened(svg: str) -> str:
    """What is left of what matplotlib writes; text stays as it is."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(svg)
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    shorten_attributes(root)
    shorten_names(root)
    join_groups(root)
    share(root, "clip-path", 2)
    share_styles(root)
    # A line for each element, so that a change shows what has changed.
    text = ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")
    return re.sub(r"><(?!/text|/tspan)", ">\n<", text) + "\n"
