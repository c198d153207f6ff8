#!/usr/bin/env python3
"""./lab slides: which stages a name means, what the slides say, and the slides in a browser."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import browser

from tools.pages.figures.style import SCREEN
from tools.repository import DOCS, FAMILIES, FIGURES, stages
from tools.slides import choice
from tools.slides.text import blocks, first, inline, plain, sections, sentences

LAB = pathlib.Path(__file__).resolve().parents[2] / "lab"
LEAST_PT = 14
# In the page: of each slide, made visible, what lies outside of it.
TOO_LARGE = """() => [...document.querySelectorAll(".slide")].map((slide, n) => {
  document.querySelectorAll(".slide.here").forEach((other) => other.classList.remove("here"));
  slide.classList.add("here");
  const body = slide.querySelector(".body") || slide;
  return [n + 1, slide.dataset.stage, slide.querySelector("h2").textContent,
    Math.max(slide.scrollHeight - slide.clientHeight, body.scrollHeight - body.clientHeight),
    slide.scrollWidth - slide.clientWidth];
}).filter(([, , , down, across]) => down > 1 || across > 1)"""

# Of each slide with a figure: stage, heading, and how large the figure is.
FIGURE_SIZES = """() => [...document.querySelectorAll(".slide")].filter((slide) => slide.querySelector(".figure > img"))
  .map((slide) => {
    document.querySelectorAll(".slide.here").forEach((other) => other.classList.remove("here"));
    slide.classList.add("here");
    const { width, height } = slide.querySelector(".figure > img").getBoundingClientRect();
    return [slide.dataset.stage, slide.querySelector("h2").textContent, width, height];
  })"""
# Of a drawing: texts that lie on one another, or outside. Boxes are higher than letters, so a third may be shared.
OVERLAPS = """() => {
  const all = document.querySelector("svg").getBoundingClientRect(), found = [];
  const texts = [...document.querySelectorAll("svg text")].filter((text) => text.textContent.trim())
    .map((text) => [text.textContent, text.getBoundingClientRect()]);
  texts.forEach(([text, a], n) => {
    if (a.left < all.left - 1 || a.right > all.right + 1 || a.top < all.top - 1 || a.bottom > all.bottom + 1)
      found.push([text, "outside"]);
    for (const [other, b] of texts.slice(n + 1)) {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1.5 && down > 0.33 * Math.min(a.height, b.height)) found.push([text, other]);
    }
  });
  return found;
}"""


def lab(*arguments):
    return subprocess.run([LAB, "slides", *arguments], capture_output=True, text=True, cwd=folder.name)


def made(asked, name):
    path = pathlib.Path(folder.name, name)
    if not path.exists():
        result = lab(asked, "--out", str(path))
        assert result.returncode == 0, result.stderr
    return path


def slides_of(path):
    return re.findall(r'<section class="slide[^"]*".*?</section>', path.read_text(), re.S)


class Choice(unittest.TestCase):
    def numbers(self, text):
        return [stage.split("_")[0].removeprefix("sgemm/") for stage in choice.stages_of(text)]

    def test_ranges_lists_families_and_paths(self):
        for text, wanted in (
            ("01-05", "01 02 03 04 05"),
            ("01,04,09b", "01 04 09b"),
            ("06", "06a 06b"),
            ("05-06", "05 05b 06a 06b"),
            ("06-07,05", "06a 06b 07 05"),
            ("tsm/01-03", "tsm/01 tsm/02 tsm/03"),
            ("tensorcore/03b-04", "tensorcore/03b tensorcore/04"),
            ("04,04", "04"),
            ("04_conflict_free", "04"),
            ("lecture", "01 02 04 07 09b 15"),
            ("lecture,18", "01 02 04 07 09b 15 18"),
            ("course", "01 02 03 04 05 07 09b 12 13b 14 15 17b"),
        ):
            with self.subTest(text):
                self.assertEqual(" ".join(self.numbers(text)), wanted)
        self.assertEqual(choice.stages_of("tsm"), [stage for stage in stages() if stage.startswith("tsm/")])

    def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(self):
        for arguments in (
            [],
            ["99"],
            ["05-01"],
            ["01-"],
            ["01,,02"],
            [""],
            ["nosuch/01"],
            ["01-tsm/03"],
            ["a\nb"],
            ["01", "02"],
            ["01", "--nosuch"],
            ["01", "--out"],
            ["01", "--out", "nosuch/x.html"],
            ["01", "--out", "."],
            ["01", "--out", "/dev/null/x"],
            ["99", "--out", "new.html"],
        ):
            with self.subTest(arguments):
                before = sorted(pathlib.Path(folder.name).iterdir())
                result = lab(*arguments)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stderr, r"\Aerror: [^\n]+\n\Z")
                self.assertEqual(result.stdout, "")
                self.assertEqual(sorted(pathlib.Path(folder.name).iterdir()), before)

    def test_help_and_standard_output(self):
        self.assertIn("usage: ./lab slides STAGES", lab("--help").stdout)
        result = lab("02", "--out", "-")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith("<!doctype html>"))


class Text(unittest.TestCase):
    def test_sentences(self):
        for text, wanted in (
            ("One is. Two are.", ["One is.", "Two are."]),
            ("**Verdict.** It is 2.5 of `a. B`. `x` is next.", ["**Verdict.** It is 2.5 of `a. B`.", "`x` is next."]),
            ("*As written.* One warp, e.g. Two. So", ["*As written.* One warp, e.g. Two.", "So"]),
            (
                "It is [so. Much](a.md). **Bold is. It too.** End.",
                ["It is [so. Much](a.md).", "**Bold is. It too.**", "End."],
            ),
            ("Why? Because (it is. Really) so.", ["Why?", "Because (it is. Really) so."]),
        ):
            with self.subTest(text):
                self.assertEqual(sentences(text), wanted)

    def test_marks(self):
        self.assertEqual(
            inline("`a<b` *i* **b** [x `y`](z) <"), "<code>a&lt;b</code> <i>i</i> <b>b</b> x <code>y</code> &lt;"
        )
        self.assertEqual(inline("`bs[tx][i]` and [04](a.md)"), "<code>bs[tx][i]</code> and 04")
        self.assertEqual(plain("[`a`](b) **c**"), "a c")

    def test_blocks(self):
        text = "# T\n## Idea\na\nb <!-- = x y -->2<!-- / -->\n\n* c\n  d\n\n```cuda\n## no\n```\n"
        page = text + "| a |\n|---|\n| 1 |\n![f](g/h.svg)\n"
        found = blocks(sections(page)["Idea"])
        self.assertEqual([block.kind for block in found], ["paragraph", "item", "code", "table", "figure"])
        self.assertEqual([found[0].text, found[1].text, found[2].text], ["a b 2", "c d", "## no\n"])
        self.assertEqual((found[3].rows(), found[4].name), ([["a"], ["1"]], "h.svg"))

    def test_no_sentence_is_rewritten(self):
        """Bullets are sentences of the page, word for word."""
        for stage in choice.stages_of("lecture,tsm/03,tensorcore/03"):
            page = (DOCS / FAMILIES[stage.split("/")[0]] / f"{stage.split('/')[1]}.md").read_text()
            for block in blocks(sections(page)["Idea"]):
                if block.kind in ("paragraph", "item"):
                    self.assertTrue(block.text.startswith(first(block.text)), block.text)


class Deck(unittest.TestCase):
    def test_each_stage_has_its_slides_in_order(self):
        path = made("01-05", "five.html")
        slides = slides_of(path)
        self.assertIn('class="slide title"', slides[0])
        for title in ("01 naive", "04 conflict-free"):
            kinds = [
                re.search(r"<h2><b>.*?</b> <span>(.*?)</span>", s)[1] for s in slides if f'data-stage="{title}"' in s
            ]
            kinds = [re.sub(r" \(\d of \d\)", "", kind) for kind in kinds]
            order = [
                kinds.index(kind) for kind in ("Idea", "Code", "By hand", "Prediction", "Measurement", "What bounds it")
            ]
            self.assertEqual(order, sorted(order), kinds)
            self.assertEqual(kinds[-1], "Exercise")
            self.assertIn("Which lane computes which element of the tile", kinds)
        text = path.read_text()
        self.assertNotIn("http://", re.sub(r"base64,[\w+/=]+", "", text).replace("http://www.w3.org", ""))
        self.assertNotIn("https://", text)
        change = next(s for s in slides if 'data-stage="04 conflict-free"' in s and "<span>Change</span>" in s)
        self.assertIn('<span class="line added">+    bs[ty][tx] =', change)
        self.assertNotIn(".idea", change)

    def test_numbers_come_from_the_measurement(self):
        from tools.pages.data import HEADLINE, Data

        data = Data()
        measured = [s for s in slides_of(made("01-05", "five.html")) if "<span>Measurement</span>" in s]
        self.assertEqual(len(measured), 5)
        for stage, slide in zip(choice.stages_of("01-05"), measured):
            speed = data.results[stage, HEADLINE]["gflops"] / 1e3
            self.assertIn(f"{speed:.1f} TFLOP/s" if speed >= 10 else f"{speed:.2f} TFLOP/s", slide)
            self.assertIn(f"{data.ladder['device']}, commit {data.ladder['commit']}", slide)
        self.assertEqual(measured[4].count('class="bar-row'), 7)  # five stages, the prediction and cuBLAS

    def test_a_measurement_has_its_verdict(self):
        said = {}
        for slide in slides_of(made("sgemm,tsm,tensorcore", "all.html")):
            if "<span>Measurement" in slide:
                stage = re.search(r'data-source="([^"]*)"', slide)[1]
                said[stage] = said.get(stage, False) or "<li>" in slide
        self.assertGreater(len(said), 50)
        self.assertEqual([stage for stage, has in said.items() if not has], [])

    def test_code_is_short_enough(self):
        for slide in slides_of(made("sgemm,tsm,tensorcore", "all.html")):
            for code in re.findall(r"<pre>.*?</pre>", slide, re.S):
                self.assertLessEqual(code.count('class="line'), 18)

    def test_every_stage_with_a_page_makes_slides(self):
        found = slides_of(made("sgemm,tsm,tensorcore", "all.html"))
        self.assertEqual(len({re.search(r'data-source="([^"]*)"', s)[1] for s in found[1:]}), len(stages()))


@unittest.skipIf(browser.SKIP, browser.SKIP)
class Browser(unittest.TestCase):
    def place(self, page):
        return int(page.inner_text("#place").split("/")[0])

    def test_keys(self):
        path = made("01-05", "five.html")
        count = len(slides_of(path))
        with browser.opened(path) as page:
            press = page.keyboard.press
            for key, place in (
                ("ArrowRight", 2),
                (" ", 3),
                ("ArrowDown", 4),
                ("PageDown", 5),
                ("ArrowLeft", 4),
                ("Shift+ ", 3),
                ("ArrowUp", 2),
                ("End", count),
                ("Home", 1),
                ("ArrowLeft", 1),
            ):
                press(key)
                self.assertEqual(self.place(page), place, key)
            for key in "12":
                press(key)
            self.assertIn("12", page.inner_text("#place"))
            press("Enter")
            self.assertEqual((self.place(page), page.evaluate("location.hash")), (12, "#12"))
            for key in ("9", "9", "9", "Enter"):
                press(key)
            self.assertEqual(self.place(page), count)
            page.reload()
            self.assertEqual(self.place(page), count, "a reload stays")
            # An answer is a step of its own, both ways.
            page.keyboard.press("ArrowRight")
            self.assertTrue(page.is_visible(".slide.here .answer"))
            page.keyboard.press("ArrowLeft")
            self.assertFalse(page.is_visible(".slide.here .answer"))
            page.keyboard.press("ArrowLeft")
            self.assertEqual(self.place(page), count - 1)
            press("o")
            self.assertEqual(page.locator("#overview button").count(), count)
            self.assertFalse(page.is_visible("#deck"))
            press("ArrowRight")
            press("Enter")
            self.assertEqual(self.place(page), count)
            self.assertTrue(page.is_visible("#deck"))
            press("o")
            page.locator("#overview button").nth(2).click()
            self.assertEqual(self.place(page), 3)
            press("f")
            page.wait_for_function("document.fullscreenElement")
            press("f")
            page.wait_for_function("!document.fullscreenElement")
            page.click("#next")
            press(" ")
            self.assertEqual(self.place(page), 5, "the button does not take the next key")
            page.click("#back")
            self.assertEqual(self.place(page), 4)

    def test_the_theme_is_the_projector_s(self):
        path = made("02", "one.html")
        with browser.opened(path, theme="") as page:
            self.assertEqual(page.evaluate("document.documentElement.dataset.theme"), "projector")
            page.click("#theme")
            self.assertEqual(page.evaluate("document.documentElement.dataset.theme"), "light")
        with browser.opened(path, theme="dark") as page:
            self.assertEqual(page.evaluate("document.documentElement.dataset.theme"), "dark")

    def swipe(self, page, by):
        page.evaluate(
            """(by) => { const deck = document.getElementById("deck");
              const at = (x) => new Touch({ identifier: 1, target: deck, clientX: x, clientY: 300 });
              deck.dispatchEvent(new TouchEvent("touchstart", { touches: [at(200)], changedTouches: [at(200)] }));
              deck.dispatchEvent(new TouchEvent("touchend", { touches: [], changedTouches: [at(200 + by)] })); }""",
            by,
        )

    def test_a_phone(self):
        path = made("04", "four.html")
        for theme in ("light", "projector"):
            with browser.opened(path, browser.PHONE, theme) as page:
                self.swipe(page, -120)
                self.assertEqual(self.place(page), 2)
                self.swipe(page, 120)
                self.swipe(page, 20)
                self.assertEqual(self.place(page), 1)
                for _ in slides_of(path)[1:]:
                    self.swipe(page, -120)
                    with self.subTest(theme=theme, slide=page.inner_text("#place")):
                        self.assertFalse(browser.is_too_wide(page))
                        across = page.eval_on_selector(".slide.here", "slide => slide.scrollWidth - slide.clientWidth")
                        self.assertLessEqual(across, 1)
                        self.assertEqual(browser.faults_of_texts(page, LEAST_PT if theme == "projector" else 0), [])

    def test_texts_can_be_read(self):
        path = made("04", "four.html")
        for theme in ("dark", "projector"):
            with browser.opened(path, browser.PROJECTOR, theme) as page:
                for n in range(len(slides_of(path))):
                    page.keyboard.press("ArrowRight")
                    with self.subTest(theme=theme, slide=n):
                        self.assertEqual(browser.faults_of_texts(page, LEAST_PT if theme == "projector" else 0), [])
                page.keyboard.press("o")
                self.assertEqual(browser.faults_of_texts(page, LEAST_PT if theme == "projector" else 0), [])
                self.assertFalse(browser.is_too_wide(page))

    def test_every_slide_of_every_stage_fits(self):
        path = made("sgemm,tsm,tensorcore", "all.html")
        with browser.opened(path, browser.PROJECTOR, "projector") as page:
            self.assertEqual(page.evaluate(TOO_LARGE), [])

    def test_figures_are_as_large_as_they_are_tested_for(self):
        """What tests/tools/test_figures_projected.py takes for the screen, and what headings of two lines would not
        leave."""
        with browser.opened(made("sgemm,tsm,tensorcore", "all.html"), browser.PROJECTOR, "projector") as page:
            found = page.evaluate(FIGURE_SIZES)
        self.assertGreater(len(found), 60)
        self.assertEqual([each for each in found if each[2] < SCREEN[0] or each[3] < SCREEN[1]], [])

    def test_no_two_texts_of_a_figure_overlap(self):
        size = "<style>svg {{ width: {}px; height: {}px }}</style>".format(*SCREEN)
        with browser.opened(made("01", "first.html"), browser.PROJECTOR, "projector") as page:
            for path in sorted(FIGURES.glob("*.svg")):
                with self.subTest(path.name):
                    page.set_content(size + path.read_text())
                    self.assertEqual(page.evaluate(OVERLAPS), [])

    def test_a_sheet_for_each_slide(self):
        path = made("04", "four.html")
        with browser.opened(path, browser.PROJECTOR, "projector") as page:
            sheets = page.pdf(prefer_css_page_size=True, print_background=True)
        self.assertEqual(len(re.findall(rb"/Type\s*/Page\b", sheets)), len(slides_of(path)))


if __name__ == "__main__":
    folder = tempfile.TemporaryDirectory()
    result = unittest.main(exit=False).result
    # Only now: CTest takes a test that says so as skipped, whatever else failed in it.
    if browser.SKIP and result.wasSuccessful():
        print(browser.SKIP)
    sys.exit(not result.wasSuccessful())
