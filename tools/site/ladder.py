"""The interactive ladder, one HTML file: all rungs against size, the roofline, and a table that sorts.

usage: python3 -m tools.site.ladder FILE
"""

import pathlib

from tools.command_line import fail, parser_of, run
from tools.site.page import bar, html_page
from tools.site.speeds import ladders

TITLE = "The ladder"
BODY = """<main>
<h2 id="speeds">Speed against size</h2>
<div class="controls">
<label>product <select id="product"></select></label>
<label>y axis <select id="unit"><option value="gflops">GFLOP/s</option><option value="cublas">% of cuBLAS</option>
<option value="roofline">% of roofline</option></select></label>
<label>scale <select id="scale"><option value="log">logarithmic</option>
<option value="linear">linear</option></select></label>
</div>
<div class="plot"><svg id="speed" tabindex="0" role="img" aria-describedby="reading"
aria-label="Speed of the chosen rungs and of cuBLAS against size; arrow keys go from point to point"></svg></div>
<output id="reading" class="reading"></output>
<fieldset id="chips" class="chips" aria-label="curves, seven at most"></fieldset>
<div class="controls"><button id="usual" type="button">usual curves</button>
<button id="none" type="button">cuBLAS alone</button><output id="chip-note" class="soft"></output></div>
<p id="cards" class="soft"></p>
<h2 id="roofline">Roofline</h2>
<div id="roof-lines" class="chips controls" role="group" aria-label="bytes of"></div>
<div class="plot"><svg id="roof" tabindex="0" role="img" aria-describedby="roof-reading"
aria-label="Each rung at its flop per byte, below the ceilings; arrow keys go from dot to dot"></svg></div>
<output id="roof-reading" class="reading"></output>
<p id="roof-of" class="soft"></p>
<h2 id="all">All rungs</h2>
<div class="controls"><label>filter <input id="filter" type="search" placeholder="tsmm complex"></label>
<output id="shown" class="soft"></output></div>
<div class="scroll"><table id="rungs"></table></div>
</main>"""
PARTS = (("speed", "#speeds"), ("roofline", "#roofline"), ("all rungs", "#all"))


def write(path: pathlib.Path | str, links: tuple[tuple[str, str], ...] = ()) -> None:
    """`links`: (text, address) of other pages, in the page's head."""
    text = html_page(
        TITLE,
        bar(TITLE, *links, *PARTS) + BODY,
        data=ladders(),
        scripts=("plot.js", "ladder.js"),
        styles=("plot.css",),
    )
    pathlib.Path(path).write_text(text)


def main() -> None:
    parser = parser_of("python3 -m tools.site.ladder", __doc__)
    parser.add_argument("file", metavar="FILE")
    options = parser.parse_args()
    try:
        write(options.file)
    except OSError as error:
        fail(f"can't write {options.file}: {error.strerror}")


if __name__ == "__main__":
    run(main)
