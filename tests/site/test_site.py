#!/usr/bin/env python3
"""Builds the site of the documents, follows its links, and reads it in a browser from its files.

usage: test_site.py [--site DIR] [unittest's arguments]   DIR: a site that is built, to save the time

Needs what ./lab site puts into .lab/python; without it nothing is checked, and that is said. GEMM_REQUIRE_SITE=1: its
absence is a failure. Without a browser (browser.py) the rest is checked.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import browser

from tools.site.links import faults

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".lab" / "python" / "bin" / "python"
SECONDS, MEGABYTES = 90, 25
LESSON = "docs/stages/04_conflict_free.html"
SAMPLE = [
    "index.html",
    LESSON,
    "docs/concepts/gpu.html",
    "docs/concepts/counts.html",
    "docs/tsm/experiments.html",
    "docs/stages/18_summit.log.html",
    "paths/six-rungs-for-one-lecture.html",
    "stages/index.html",
    "stages/04_conflict_free.cu.html",
]
site = pathlib.Path()


def lab_site(*arguments):
    return subprocess.run(
        [sys.executable, "-B", "-m", "tools.site", *map(str, arguments)],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def page_with(body):
    return f'<!doctype html><html><head><link rel="icon" href="data:,"></head><body id="top">{body}</body></html>'


class Checker(unittest.TestCase):
    """A check that finds nothing wrong anywhere is none."""

    def of(self, body, **others):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "index.html").write_text(page_with(body))
            for name, text in others.items():
                pathlib.Path(folder, name + ".html").write_text(page_with(text))
            return faults(pathlib.Path(folder))

    def test_rejected(self):
        for body in (
            '<a href="missing.html">x</a>',
            '<a href="#missing">x</a>',
            '<a href="other.html#missing">x</a>',
            '<a href="../outside.html">x</a>',
            '<a href=".">a folder</a>',
            '<img src="missing.svg">',
            "<p>see [this](x.md)</p>",
            "<p>not **bold</p>",
            "<div>\n```diff\n-x\n</div>",
            "<div>\n| a | b |\n|---|---|\n</div>",
            '<script src="https://example.org/x.js"></script>',
            '<link rel="stylesheet" href="//example.org/x.css">',
        ):
            with self.subTest(body):
                self.assertTrue(self.of(body, other=""))

    def test_accepted(self):
        for body in (
            '<a href="other.html#here">x</a> <a href="#top">y</a> <a href="other.html?theme=dark">z</a>',
            '<a href="https://example.org/">elsewhere</a>',
            "<p><code>a[i](x) ** 2</code></p><pre>```\n| a | b |\n</pre><script>const a = '](';</script>",
        ):
            with self.subTest(body):
                self.assertEqual(self.of(body, other='<i id="here"></i>'), [])


class Built(unittest.TestCase):
    def test_links_and_texts(self):
        self.assertEqual(faults(site), [])

    def test_size(self):
        size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
        self.assertLess(size / 1e6, MEGABYTES)

    def test_every_document_has_a_page_that_can_be_reached(self):
        documents = [*(ROOT / "docs").rglob("*.md"), *(ROOT / f / "README.md" for f in (".", "tsm", "tensorcore"))]
        expected = {
            str(path.relative_to(ROOT)).replace("README.md", "index.html").replace(".md", ".html") for path in documents
        }
        listed = set()
        for page in site.rglob("index.html"):
            listed.add(str(page.relative_to(site)))
        reached, left = {"index.html"}, ["index.html"]
        from tools.site.links import PageOfSite

        while left:
            name = left.pop()
            for target in PageOfSite((site / name).read_text()).targets:
                to = os.path.normpath(os.path.join(os.path.dirname(name), target.partition("#")[0]))
                if to.endswith(".html") and to not in reached and (site / to).is_file():
                    reached.add(to)
                    left.append(to)
        self.assertGreater(len(expected), 100)
        self.assertFalse(expected - reached)
        self.assertIn("stages/04_conflict_free.cu.html", reached)

    def test_what_forges_show(self):
        text = (site / LESSON).read_text()
        self.assertEqual(text.count("<details>"), 4)  # the diff and three answers
        self.assertIn('<span class="gi">', text)
        self.assertGreater(text.count("<table>"), 4)
        self.assertIn('<a href="../../stages/04_conflict_free.cu.html">Source</a>', text)

    def test_bad_usage(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "letter.txt").write_text("mine")
            for arguments in (["--out", folder], ["--out", __file__], ["--out", "/proc/site"], ["--colour"], ["x"]):
                with self.subTest(arguments):
                    done = lab_site(*arguments)
                    self.assertEqual(done.returncode, 2, done.stdout)
                    self.assertRegex(done.stdout, r"\Aerror: [^\n]*\n\Z")
            self.assertEqual(os.listdir(folder), ["letter.txt"])


@unittest.skipIf(browser.SKIP, browser.SKIP)
class Browsed(unittest.TestCase):
    def search(self, page, words):
        if page.viewport_size["width"] < 1000:
            page.click("label.md-header__button[for=__search]")
        page.focus(".md-search__input")
        page.keyboard.type(words)
        page.wait_for_selector(".md-search-result__item", timeout=30000)
        page.wait_for_timeout(600)  # it slides in
        return page.eval_on_selector_all(
            ".md-search-result__item h1, .md-search-result__item h2", "a => a.map(x => x.innerText)"
        )

    def test_search(self):
        for size, theme, least in ((browser.PROJECTOR, "projector", 14), (browser.PHONE, "dark", 0)):
            with browser.opened(site / LESSON, size, theme) as page:
                found = self.search(page, "bank conflict")
                self.assertIn("Glossary", found[:3])
                self.assertFalse(browser.faults_of_texts(page, least))
                page.keyboard.press("Enter")
                page.wait_for_url("**/*?h=*")

    def test_themes(self):
        with browser.opened(site / LESSON) as page:
            scheme = "document.body.dataset.mdColorScheme"
            seen = []
            for _ in range(4):
                seen.append(page.evaluate(scheme))
                page.click("[data-md-component=palette] label:not([hidden])")
            self.assertEqual(seen, ["default", "slate", "projector", "default"])
            # Kept for the other pages, those of code too.
            self.assertEqual(page.evaluate(scheme), "slate")
            page.goto((site / "docs/glossary.html").as_uri())
            self.assertEqual(page.evaluate(scheme), "slate")
            page.goto((site / "stages/04_conflict_free.cu.html").as_uri())
            self.assertEqual(page.evaluate("document.documentElement.dataset.theme"), "dark")

    def test_texts(self):
        for theme, least in (("light", 0), ("dark", 0), ("projector", 14)):
            for size in (browser.PROJECTOR, browser.PHONE):
                with browser.opened(site / "index.html", size, theme) as page:
                    for name in SAMPLE:
                        with self.subTest(f"{name} {theme} {size}"):
                            page.goto((site / name).as_uri() + f"?theme={theme}")
                            page.evaluate(
                                "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
                            )
                            self.assertFalse(browser.is_too_wide(page))
                            self.assertFalse(browser.faults_of_texts(page, least)[:5])

    def test_no_page_is_too_wide_for_a_phone(self):
        with browser.opened(site / "index.html", browser.PHONE) as page:
            names = [
                p for f in ("docs", "paths", "tsm", "tensorcore", "interactive") for p in (site / f).rglob("*.html")
            ]
            wide = []
            for name in names:
                if ".cu" in name.name or ".hpp" in name.name:
                    continue
                page.goto(name.as_uri())
                if browser.is_too_wide(page):
                    wide.append(str(name.relative_to(site)))
            self.assertFalse(wide)

    def test_along_a_path(self):
        with browser.opened(site / "paths/six-rungs-for-one-lecture.html", theme="projector") as page:
            page.click("article a:has-text('02 coalesced')")
            steps = []
            while page.locator(".paths span:first-child a", has_text="→").count():
                page.click(".paths span:first-child a:has-text('→')")
                steps.append(page.inner_text("h1").split()[0])
            self.assertEqual(steps, ["04", "07", "09b", "15"])

    def test_lists_of_pages(self):
        with browser.opened(site / LESSON) as page:
            logs = ".md-sidebar--primary a[href$='.log.html']:visible"
            self.assertEqual(page.locator(logs).count(), 1)  # beneath its lesson
            page.click(logs)
            self.assertIn("log", page.inner_text("h1"))
        with browser.opened(site / LESSON, theme="projector") as page:
            self.assertFalse(page.is_visible(".md-sidebar--primary"))
            page.click("label.md-header__button[for=__drawer]")
            page.click(".md-sidebar--primary a:has-text('05 thread 2x2')")
            self.assertTrue(page.inner_text("h1").startswith("05"))

    def test_lines_of_code(self):
        with browser.opened(site / "stages/04_conflict_free.cu.html") as page:
            lines = (ROOT / "stages/04_conflict_free.cu").read_text().splitlines()
            self.assertEqual(
                [line.rstrip() for line in page.inner_text(".source").split("\n")], [line.rstrip() for line in lines]
            )
            page.click("a:has-text('its page')")
            self.assertTrue(page.inner_text("h1").startswith("04"))


def main():
    global site
    needed = [str(PYTHON) if PYTHON.exists() else sys.executable, "-c", "import material, cmarkgfm"]
    if subprocess.run(needed, stderr=subprocess.DEVNULL).returncode:
        print("SKIPPED, NOT RUN: no mkdocs-material and cmarkgfm (./lab site fetches them)")
        return int(os.environ.get("GEMM_REQUIRE_SITE") == "1")
    if sys.argv[1:2] == ["--site"]:
        site = pathlib.Path(sys.argv[2]).resolve()
        return unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False).result.wasSuccessful() is False
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder, "site").resolve()
        done = lab_site("--out", site)
        if done.returncode:
            sys.exit(done.stdout)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        # Of the processor: other tests run beside this one.
        seconds = used.ru_utime + used.ru_stime
        print(f"{done.stdout.strip()} in {seconds:.0f} s")
        if seconds > SECONDS:
            sys.exit(f"the site takes {seconds:.0f} s, more than {SECONDS}")
        return unittest.main(exit=False).result.wasSuccessful() is False


if __name__ == "__main__":
    sys.exit(main())
