"""A page in Debian's Chromium, used as a person uses it, and what every page must keep to.

Needs playwright (of this Python or of .lab/python) and chromium; without them SKIP says so, and a test that uses it is
skipped loudly. GEMM_REQUIRE_BROWSER=1: their absence is a failure.
"""

import contextlib
import os
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(path) for path in (ROOT / ".lab" / "python").glob("lib/python3*/site-packages")]
try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SKIP = (
    ""
    if sync_playwright and CHROMIUM
    else "SKIPPED, NOT RUN: needs "
    + " and ".join(["playwright"] * (not sync_playwright) + ["chromium"] * (not CHROMIUM))
)
if SKIP and os.environ.get("GEMM_REQUIRE_BROWSER"):
    sys.exit(SKIP)
PROJECTOR, PHONE = (1280, 720), (390, 844)

# In the page: texts that are on the screen, each with its size in pt, its contrast, and its box.
TEXTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => { const f = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const colour = rgb(getComputedStyle(node).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return [255, 255, 255];
  };
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), parent = walker.currentNode.parentElement;
    if (!text || !parent || parent.closest("script, style, noscript")) continue;
    const range = document.createRange(); range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect(), style = getComputedStyle(parent);
    if (!box.width || !box.height || style.visibility === "hidden" || !+style.opacity) continue;
    const svg = parent.closest("svg"), on = parent.closest("[data-on]");
    const back = on ? rgb(on.dataset.on) : behind(svg || parent), fore = rgb(svg ? style.fill : style.color);
    const [high, low] = [light(fore), light(back)].sort((a, b) => b - a);
    // What a drawing is scaled by.
    const view = svg && svg.viewBox.baseVal && svg.viewBox.baseVal.width;
    const scale = view ? svg.getBoundingClientRect().width / view : 1;
    found.push({ text: text.slice(0, 60), pt: parseFloat(style.fontSize) * scale * 0.75,
      contrast: (high + 0.05) / (low + 0.05), svg: !!svg,
      left: box.left, top: box.top, right: box.right, bottom: box.bottom });
  }
  return found;
}"""


@contextlib.contextmanager
def opened(path, size=PROJECTOR, theme="light"):
    """A page of a file; at its end there must have been no error and no request that leaves the machine."""
    complaints, foreign = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else foreign.append(r.url))
        page.goto(pathlib.Path(path).resolve().as_uri() + f"?theme={theme}")
        yield page
        browser.close()
    assert not complaints, f"console: {complaints}"
    assert not foreign, f"asks other machines: {foreign}"


def faults_of_texts(page, least_pt=0.0, least_contrast=4.5):
    """Texts that are too small, too pale, or of a drawing and on top of each other."""
    texts, found = page.evaluate(TEXTS), []
    for text in texts:
        if text["pt"] < least_pt - 0.05:
            found.append(f"{text['pt']:.1f} pt: {text['text']}")
        if text["contrast"] < least_contrast - 0.01:
            found.append(f"contrast {text['contrast']:.1f}: {text['text']}")
    drawn = [text for text in texts if text["svg"]]
    for i, a in enumerate(drawn):
        for b in drawn[:i]:
            across = min(a["right"], b["right"]) - max(a["left"], b["left"])
            down = min(a["bottom"], b["bottom"]) - max(a["top"], b["top"])
            if across > 1 and down > 2:
                found.append(f"'{a['text']}' over '{b['text']}'")
    return found


def is_too_wide(page):
    """Whether one must scroll sideways to read it. Wide things scroll within themselves."""
    return page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1")
