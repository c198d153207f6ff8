"""Each access of a stage's warps to memory, step by step, in one HTML file.

usage: ./lab trace ID --html FILE [--json FILE] [--m M --n N --k K ...] [--block X] [--launch N] [--steps N]

ID        a stage, such as 03 or tsm/06, also one of yours (stages/90_mine.cu is 90_mine)
--html    where the page is written: source line, addresses, sectors or banks, tiles
--json    the same as data (docs/concepts/output.md); - for standard output
--block   which block: a number, or x,y or x,y,z; or all; may be given again (default: the first)
--launch  which of the stage's launches (default: the one that multiplies on Tensor Cores, else the one with the most
          accesses)
--steps   so many accesses of warps for each block, at most (default: 20000)
--timeout stop a stage that takes longer than so many seconds (default: 60; 0: never)
--m and all else that says what the problem is, as for ./lab run. The CPU executor runs it, GPU or not.
"""

import ast
import json
import operator
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable

from tools.command_line import Parser, fail, parser_of, run
from tools.repository import ROOT, Json, stage_file
from tools.rungs import included
from tools.site.page import bar, html_page

LONGEST_SOURCE = 2000  # lines of a file that the page takes in

# ---- what a shared array looks like: the symbol table knows its bytes, only the source its rows and columns

ELEMENT_BYTES = {
    "float": 4,
    "int": 4,
    "unsigned": 4,
    "double": 8,
    "__half": 2,
    "half": 2,
    "__nv_bfloat16": 2,
    "char": 1,
}
ELEMENT_BYTES |= {
    "__nv_bfloat16": 2,
    "float2": 8,
    "float4": 16,
    "double2": 16,
    "__half2": 4,
    "half2": 4,
    "int4": 16,
    "uint4": 16,
}
DECLARATION = re.compile(
    r"__shared__\s+(?:__align__\([^)]*\)\s*|alignas\([^)]*\)\s*)?(?:nvcuda::|std::)?(\w+)\s+(\w+\s*\[[^;]*)\s*;"
)
DECLARATOR = re.compile(r"(\w+)\s*((?:\[[^\]]*\]\s*)+)")
CONSTANTS = re.compile(r"constexpr\s+(?:static\s+)?(?:unsigned|int|std::size_t|auto)\s+(\w+\s*=[^;{]*);")
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}


def value_of(expression: str, constants: dict[str, int]) -> int | None:
    """Of sums, products and the like of whole numbers and known constants."""

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            return constants[node.id]
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise KeyError

    try:
        return value(ast.parse(expression.strip(), mode="eval").body)
    except (KeyError, SyntaxError, ZeroDivisionError):
        return None


def template_arguments(kernel: str, text: str) -> dict[str, str]:
    """The parameters of a kernel that reports call sgemm<16, 8, true>, as far as its file declares them."""
    name, _, arguments = kernel.partition("<")
    name = name.rpartition("::")[2]
    head = re.search(r"template\s*<([^<>]*)>[^;{}]*?\b" + re.escape(name) + r"\s*\(", text)
    if not head or not arguments:
        return {}
    names = [parameter.partition("=")[0].split()[-1] for parameter in head[1].split(",")]
    values = [value.strip() for value in arguments.rstrip(">").split(",")]
    return dict(zip(names, values, strict=False)) if len(names) == len(values) else {}


def constants_of(text: str, template: dict[str, str]) -> dict[str, int]:
    """The whole numbers that a file names, as far as they follow from others and from the kernel's own."""
    constants = {name: int(value) for name, value in template.items() if value.isdecimal()}
    for declaration in CONSTANTS.finditer(text):
        for part in declaration[1].split(","):
            name, _, expression = part.partition("=")
            if (value := value_of(expression, constants)) is not None:
                constants.setdefault(name.strip(), value)
    return constants


def shape_of(element: int, dimensions: list[str], size: int, constants: dict[str, int]) -> Json:
    """If the dimensions do not contradict the size. One may be unknown: it follows."""
    values = [value_of(each, constants) for each in dimensions]
    known = element
    for value in values:
        known *= value or 1
    if values.count(None) == 1 and known and size % known == 0:
        values[values.index(None)] = size // known
        known = size
    if None in values or known != size:
        return {}
    shape: Json = {"element_bytes": element, "dimensions": values}
    # One dimension of ROWS * ROW elements.
    row = value_of(dimensions[0].rpartition("*")[2], constants) if len(values) == 1 else None
    if row and values[0] % row == 0:
        shape["row"] = row
    return shape


def declared_shape(name: str, size: int, texts: Iterable[str], kernel: str) -> Json:
    """Element bytes and dimensions of a shared array of `size` bytes; nothing if its declaration does not tell."""
    for text in texts:
        text = re.sub(r"//.*", "", text)
        template = template_arguments(kernel, text)
        constants = constants_of(text, template)
        for declaration in DECLARATION.finditer(text):
            element = ELEMENT_BYTES.get(template.get(declaration[1], declaration[1]))
            for declarator in DECLARATOR.finditer(declaration[2]):
                dimensions = re.findall(r"\[([^\]]*)\]", declarator[2])
                if declarator[1] != name or not element:
                    continue
                if shape := shape_of(element, dimensions, size, constants):
                    return shape
    return {}


# ---- one dynamic array that holds several tiles: what it is filled with tells where they begin

ROW_OF_BANKS = 128  # bytes
PADDING = ROW_OF_BANKS  # less than this behind a row of a tile belongs to it
INTERLEAVED = 2048  # pieces below this that alternate are rows of tiles that lie side by side
MOST_PARTS = 12  # more would tell nobody anything


def shown_line(site: Json, own: str) -> int:
    """Which of a site's lines is lit: the innermost one of the stage's own file; where the kernel lies in a header, the
    innermost of that file."""
    files = [line["file"] for line in site["lines"]]
    return files.index(own if own in files else files[-1]) if files else 0


def fillings(trace: Json, own: str, number: int) -> list[str]:
    """Of each word of a shared array what filled it first: "from A", or "by line 139"; empty if nothing did."""
    words = [""] * (-(-trace["objects"][number]["bytes"] // 4))
    for row in trace["requests"]:
        request = dict(zip(trace["fields"], row, strict=True))
        site, shape = trace["sites"][request["site"]], trace["shapes"][request["shape"]]
        if site["space"] != "shared" or site["access"] == "load" or not site["lines"]:
            continue
        if request["source"] >= 0:
            text = f"from {trace['objects'][request['source']]['name']}"
        elif site.get("async"):
            continue  # zeros, where a copy ends: no tile of their own
        else:
            text = f"by line {site['lines'][shown_line(site, own)]['line']}"
        objects = shape.get("objects", [request["object"]] * len(shape["offsets"]))
        for touched, offset in zip(objects, shape["offsets"], strict=True):
            first = (request["base"] + offset) // 4
            for word in range(first, first + -(-site["bytes"] // 4)) if touched == number else ():
                words[word] = words[word] or text
    return words


def joined(pieces: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Neighbours of one text as one."""
    result: list[tuple[int, str]] = []
    for size, text in pieces:
        if result and result[-1][1] == text:
            result[-1] = (result[-1][0] + size, text)
        else:
            result.append((size, text))
    return result


def without_padding(pieces: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """What is never filled between two pieces of one text is theirs, as is less than a row of banks behind any."""
    result: list[tuple[int, str]] = []
    for i, (size, text) in enumerate(pieces):
        before = result[-1][1] if result else ""
        hole = not text and i + 1 < len(pieces) and pieces[i + 1][1] == before
        result.append((size, before if before and (hole or size < PADDING) else text))
    return joined(result)


def side_by_side(pieces: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Rows of several tiles that alternate are one piece, of them all."""
    result, short = [], []
    for size, text in [*pieces, (INTERLEAVED, "")]:
        if size < INTERLEAVED and text:
            short.append((size, text))
            continue
        if len(short) > 2:
            short = [(sum(each for each, _ in short), ", ".join(dict.fromkeys(each for _, each in short)))]
        result += [*short, (size, text)]
        short = []
    return result[:-1]


def parts_of(words: list[str]) -> list[Json]:
    """An array as the tiles that it holds: first byte, bytes, what filled it. One part if they can't be told apart."""
    pieces = joined([(4, text) for text in words])
    pieces = side_by_side(without_padding(pieces))
    if len(pieces) > MOST_PARTS:
        pieces = [(4 * len(words), "")]
    parts, first = [], 0
    for size, text in pieces:
        parts.append({"offset": first, "bytes": size, "filled": text})
        first += size
    return parts


# ---- the page


def text_of(name: str) -> str:
    """Of a source file that a trace names; empty if it is none of the repository's, or is not there."""
    path = (ROOT / name).resolve()
    if not path.is_relative_to(ROOT) or not path.is_file():
        return ""
    return "\n".join(path.read_text(errors="replace").split("\n")[:LONGEST_SOURCE])


def data_of(trace: Json) -> Json:
    """What the script needs: the trace with its sources' text, and the shapes of shared arrays."""
    own = stage_file(trace["stage"].split(":")[0]).relative_to(ROOT).as_posix()
    names = sorted({line["file"] for site in trace["sites"] for line in site["lines"]} | {own})
    sources = {name: text for name in names if (text := text_of(name))}
    # A header may have the constants of the stage's arrays.
    headers = [header.read_text() for header in included(ROOT / own)]
    ordered = ["\n".join([*headers, sources[own]])] if own in sources else []
    ordered += [text for name, text in sources.items() if name != own]
    kernel = trace["kernel"]
    sites = [site | {"shown": shown_line(site, own)} for site in trace["sites"]]
    objects = []
    for number, each in enumerate(trace["objects"]):
        shape = declared_shape(each["name"], each["bytes"], ordered, kernel) if each["kind"] == "shared" else {}
        if each["kind"] == "shared" and len(shape.get("dimensions", "1")) == 1 and "row" not in shape:
            shape["parts"] = parts_of(fillings(trace, own, number))
        objects.append(each | shape)
    return trace | {"objects": objects, "sites": sites, "sources": sources, "file": own}


def title_of(trace: Json) -> str:
    family, name = trace["stage"].split("/")
    words = name.replace("_", " ")
    return f"{words if family == 'sgemm' else family + ' ' + words}: each access"


def html_of(trace: Json) -> str:
    """A page that stands alone, of what `gemm trace` wrote."""
    body = (
        bar(title_of(trace))
        + """
<main id="trace">
<section id="controls">
  <label id="block-label">block <select id="block"></select></label>
  <label>warp <select id="warp"></select></label>
  <span class="group"><button id="back" title="step back (left arrow)">&larr;</button>
  <button id="play" title="play or pause (space)">play</button>
  <button id="forward" title="step forward (right arrow)">&rarr;</button></span>
  <label>speed <select id="speed"></select></label>
  <button id="next-conflict" title="key c">next conflict</button>
  <button id="next-line" title="key l">next line</button>
  <button id="next-page" title="key d" hidden></button>
  <input id="position" type="range" min="0" value="0" aria-label="step">
</section>
<section id="now" aria-live="polite"></section>
<section id="code"><div id="source" tabindex="0"></div><div id="inlined" class="soft"></div></section>
<section id="lanes"></section>
<section id="figures"></section>
<p id="notes" class="soft"></p>
</main>
"""
    )
    return html_page(title_of(trace), body, data=data_of(trace), scripts=("trace.js",), styles=("trace.css",))


# ---- traces


def traced(program: pathlib.Path, stage: str, options: list[str], timeout: float) -> Json:
    """What this program, gemm or a stage's own, writes. It runs the stage in a process of its own, and says what became
    of that: exit status 1 if the stage is at fault, 2 if it can't be traced."""
    command = [str(program), "trace"]
    if program.name == "gemm":
        command.append(stage)
    elif ":" in stage:
        command += ["--variant", stage.partition(":")[2]]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "trace.json"
        command += [*options, "--timeout", f"{timeout:g}", "--json", str(file)]
        # What a kernel prints is no part of what we write.
        ended = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True)
        if ended.returncode == 0:
            sys.stderr.write(ended.stderr)
            return json.loads(file.read_text())
        lines = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
        print(lines[-1] if lines else f"error: the program that traces {stage} has ended", file=sys.stderr)
        sys.exit(1 if ended.returncode == 1 else 2)


def write_whole(name: str, text: str) -> None:
    """To a file, or to standard output: all of it or nothing."""
    if name == "-":
        sys.stdout.write(text)
        return
    path = pathlib.Path(name)
    part = path.with_name(path.name + ".tmp")
    try:
        if path.exists() and not path.is_file():
            path.write_text(text)
            return
        part.write_text(text)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        fail(f"can't write {name}: {error.strerror}")


def require_writable(name: str | None) -> None:
    """Now, and not after a minute."""
    if name is None or name == "-":
        return
    path = pathlib.Path(name)
    if path.is_dir():
        fail(f"can't write {name}: it is a folder")
    if not path.parent.is_dir():
        fail(f"can't write {name}: there is no folder {path.parent}")


def arguments() -> Parser:
    parser = parser_of("./lab trace", __doc__)
    parser.allow_abbrev = False
    parser.add_argument("stage")
    parser.add_argument("--html", metavar="FILE")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--program", type=pathlib.Path)  # ./lab names it
    return parser


def main() -> None:
    words = sys.argv[1:]
    if words and words[0].startswith("-") and words[0] not in ("-h", "--help"):
        fail("trace needs a stage first: ./lab trace 03 --html trace.html")
    options, others = arguments().parse_known_args(words)
    if options.html is None and options.json is None:
        fail(f"say where to: ./lab trace {options.stage} --html trace.html (or --json FILE)")
    if options.html == options.json:
        fail("--html and --json need a file each")
    if options.timeout < 0:
        fail("--timeout takes seconds")
    require_writable(options.html)
    require_writable(options.json)
    if options.program is None:
        return  # ./lab asks before it builds
    trace = traced(options.program, options.stage, others, options.timeout)
    if options.json is not None:
        write_whole(options.json, json.dumps(trace, separators=(",", ":")) + "\n")
    if options.html is not None:
        write_whole(options.html, html_of(trace))


if __name__ == "__main__":
    run(main)
