"""A figure's SVG as short as it can be without looking different."""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

Element = ElementTree.Element
SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"


def number(found: re.Match[str]) -> str:
    """Coordinates with two digits behind the point, a hundredth of a pixel; factors below 1 with four."""
    value = float(found[0])
    return f"{value:.{2 if abs(value) >= 1 else 4}f}".rstrip("0").rstrip(".")


def short_numbers(text: str) -> str:
    """Not in names and colours."""
    return re.sub(r"(?<![\w.#])-?\d+\.\d{3,}(?![\w.])", number, text)


def short_path(text: str) -> str:
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", " ".join(text.split()))


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
                element.set(key, short_path(short_numbers(value)))
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
    share_styles(root)
    # A line for each element, so that a change shows what has changed.
    text = ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")
    return re.sub(r"><(?!/text|/tspan)", ">\n<", text) + "\n"
