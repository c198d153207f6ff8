#!/usr/bin/env python3
"""Checks that pages can be read: a lesson's length and parts, sentences, house words, numbers that are typed.

usage: test_lessons.py [--pages PART]   of pages whose path has PART in it also the figures, sentence by sentence

A page of a stage is a lesson. What was tried beside it and what the profiler said stands in NN_name.log.md, which no
rule here binds but that of words. WAITING names the pages that were not rewritten yet; a page that keeps the rules must
not be on it.

Numbers with a unit of speed, time or share (QUANTITY) are measured or calculated, and what was measured is generated:
* In the sections ARITHMETIC a number is calculated, from sizes, constants and assumptions, unless its sentence says
  that somebody measured it (MEASURED): "reached", "took", or an existing kernel, library or device that "takes" or
  "does" it. Such a sentence may still be a prediction or a source's (ASSUMED).
* In all other sections a number is measured, unless its sentence says what else it is (NOT_OURS).
* Pages that are no lessons mix both, so each number is measured, unless its sentence says what else it is (NOT_OURS),
  has the calculation (an equals sign) or a rule's limit (RULE), or its paragraph begins with a prediction or a source
  in bold (SAID_BEFORE), or the section is an exercise.
* In every section, a column of a table that says "measured" has only generated numbers.
Other numbers (problem sizes, 132 SMs, 228 KB, cycles) have no such unit and may be typed.

Each lesson calculates intensity and resident blocks by hand, and its measurement says whether the prediction held. The
heads of the stages' files are prose, too: the same sentences.
"""

import argparse
import itertools
import pathlib
import re
import statistics
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
WAITING = pathlib.Path(__file__).with_name("lessons_waiting.txt")
FAMILIES = ("stages", "tsm", "tensorcore")
SECTIONS = ("Idea", "By hand", "Prediction", "Measurement", "What bounds it", "Exercise")
# What a section must say.
SAYS = {
    "By hand": {
        "the arithmetic intensity": re.compile(r"FLOPs?(?: per byte|/B\b)"),
        "the resident blocks": re.compile(
            r"\bresident\b|\boccupancy\b|(?:blocks|warps)\b[^.]* on an SM|(?:blocks|warps) per SM"
            r"|an SM (?:could )?holds?\b",
            re.I,
        ),
    },
    "Measurement": {"whether the prediction held": re.compile(r"predict|expect", re.I)},
}
WORDS = 900  # of a lesson, without tables, code, figures, generated parts and exercises
TERMS = set("Thread Kernel Latency Throughput GEMM BLAS PTX SASS Host Epilogue Workspace ILP".split())
TERMS |= {
    "Compute capability",
    "In flight",
    "Resident block",
    "k-tile",
    "Wave",
    "Remainder",
    "Per-thread tile",
    "Stride",
}
PAGE_ZERO, WORDS_OF_PAGE_ZERO = DOCS / "concepts" / "gpu.md", 1200
MEDIAN, NINTH = 18, 28  # words of a sentence, and of nine in ten
HOUSE_WORDS = re.compile(
    r"on (?:its|their) way|for nothing|in vain|so.manieth|so many\b|said aloud|says? aloud|of no account"
    r"|dealt out|in turns\b|in the flesh|stands? in .{1,30}'s way|not traced|the weather",
    re.I,
)
# Measured quantities; a plain percentage is one, too.
UNIT = r"(?:[KMGTP]?FLOP/s|[kKMGT]i?B/s|m[sW]|[uµ]s|ns|MHz|GHz|watts?|W|%|percent|times (?:as|faster|slower))"
QUANTITY = re.compile(rf"(?<![\w.])\d[\d,.]*\s*{UNIT}(?!\w)")
ARITHMETIC = ("Idea", "By hand", "Prediction", "Exercise")
MEASURED = re.compile(
    r"\bmeasure[ds]?\b|\breach(?:es|ed)\b|\btook\b|\btimed\b|\bran\b|Nsight Compute|profiler|\b(?:was|were) \S+ times"
    r"|\b(?:\d\d[a-c]?|cuBLAS|[Cc]opy|[Ll]aunch|H[12]00) (?:takes|reads|does|costs|stands)\b"
)
ASSUMED = re.compile(r"predict|expect|should|would|assum|paper|article|case study|report|source", re.I)
# A number that was not measured here: predicted, exact by construction, or a source's.
NOT_OURS = re.compile(
    r"predict|expect|allow|at most|at least|peak|ceiling|paper|article|case study|report|source|exactly|by hand", re.I
)
RULE = re.compile(r"\b(?:fewer than|more than|nearer than|within|near)$", re.I)
SAID_BEFORE = re.compile(r"\*\*(?:[^*]*predict|Prediction|Exercise|The paper|The source)", re.I)


def parts(text):
    """A page by its sections, without what is not prose, and logs in folds. Numbers' marks become ⟨1⟩."""
    text = re.sub(r"^<details><summary>Log\b.*?^</details>$", "", text, flags=re.S | re.M)
    text = re.sub(r"<!-- = .*?-->.*?<!-- / -->", "⟨1⟩", text, flags=re.S)
    text = re.sub(r"^<!-- generated:.*?<!-- end generated -->$", "", text, flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^(\s*)(`{3,}|~{3,}).*?^\1\2\s*$", "", text, flags=re.S | re.M)
    text = re.sub(r"^\s*\|.*$", "", text, flags=re.M)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"<[^>]+>", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(`+).+?\1", "code", text, flags=re.S)
    found, heading = {}, ""
    for line in text.splitlines():
        if match := re.match(r"#{1,6} +(.*)", line):
            heading = match[1].strip() if line.startswith("## ") or line.startswith("# ") else heading
        else:
            found.setdefault(heading, []).append(line)
    return {heading: "\n".join(lines) for heading, lines in found.items()}


def paragraphs(text):
    """Also each item of a list."""
    text = re.sub(r"^\s*(?:[-*+]|\d+\.) +", "\n\n", text, flags=re.M)
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def sentences(text):
    """A colon before a capital ends one, too; a full stop in a number or an abbreviation does not."""
    found = []
    for paragraph in paragraphs(text):
        paragraph = re.sub(r"[*_]{1,2}", "", paragraph)
        paragraph = re.sub(r"\b(e\.g|i\.e|cf|vs|Sec|Fig|No)\.", r"\1", paragraph)
        found += [s for s in re.split(r"(?<=[.!?])[\")]?\s+(?=[\"(⟨A-Z0-9])|:\s+(?=[A-Z])|;\s", paragraph) if s.strip()]
    return found


def words(text):
    return [word for word in re.split(r"\s+", text) if re.search(r"[\w⟨]", word)]


def typed_numbers(heading, text):
    """The sentences of a section that tell what was measured, each with such a number."""
    for sentence in sentences(text):
        match = QUANTITY.search(sentence)
        if heading.startswith(ARITHMETIC):
            typed = MEASURED.search(sentence) and not ASSUMED.search(sentence)
        else:
            typed = not NOT_OURS.search(sentence)
        if match and typed:
            yield match[0], sentence


def typed_elsewhere(text):
    """The same of a page that is no lesson."""
    for paragraph in paragraphs(text):
        if SAID_BEFORE.match(paragraph):
            continue
        for sentence in sentences(paragraph):
            for match in QUANTITY.finditer(sentence):
                before = sentence[: match.start()].rstrip()
                if not (NOT_OURS.search(sentence) or " = " in sentence or RULE.search(before)):
                    yield match[0], sentence


def typed_cells(text):
    """Of tables that are not generated: the cells with a typed number below a head that says "measured"."""
    text = re.sub(r"<!-- = .*?-->.*?<!-- / -->", "⟨⟩", text, flags=re.S)
    text = re.sub(r"^<!-- generated:.*?<!-- end generated -->$", "", text, flags=re.S | re.M)
    for found in re.findall(r"(?:^\|.*\n)+", text, re.M):
        head, _, *rows = [line.strip("|").split("|") for line in found.splitlines()]
        for row in rows:
            for name, cell in zip(head, row):
                if re.search("measured", name, re.I) and re.search(r"\d", cell) and "⟨" not in cell:
                    yield cell.strip(), name.strip()


def said(text, section):
    """A section with its tables, without what is generated."""
    text = re.sub(r"^<!-- generated:.*?<!-- end generated -->$", "", text, flags=re.S | re.M)
    match = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", text, re.S | re.M)
    return match[1] if match else ""


def is_stage(path):
    return path.parent.name in FAMILIES and re.match(r"\d\d", path.name) and not path.name.endswith(".log.md")


def faults_of_sentences(found):
    for sentence in found:
        if re.match(r"(?:Of|Who|So many) ", sentence):
            yield f"a sentence that begins with '{sentence.split()[0]}': {sentence[:60]}"
    lengths = sorted(len(words(sentence)) for sentence in found)
    if len(lengths) >= 10:
        median, ninth = statistics.median(lengths), lengths[int(0.9 * len(lengths))]
        if median > MEDIAN or ninth > NINTH:
            yield f"sentences of {median:g} words (at most {MEDIAN}), of {ninth} in the long tenth (at most {NINTH})"


def head_of(source):
    """The comment at the top of a stage's file, each label a paragraph of its own."""
    lines = (line[2:] for line in itertools.takewhile(lambda line: line.startswith("//"), source.splitlines()))
    return "\n".join(re.sub(r"^ ([A-Z]\w+) {2,}", r"\n", line).strip(" ") for line in lines)


def faults_of_head(source):
    """Here not even one sentence in ten may be long."""
    text = head_of(source)
    found = [f"house word: '{match[0]}'" for match in HOUSE_WORDS.finditer(" ".join(text.split()))]
    found += faults_of_sentences(sentences(text))
    return found + [f"{n} words: {s[:60]}" for s in sentences(text) if (n := len(words(s))) > NINTH]


def faults(path):
    text = path.read_text()
    by_heading = parts(text)
    # A page's head is links; a log is a log.
    bodies = {h: t for h, t in by_heading.items() if h not in ("", "Log", "Source")}
    first = re.match(r"# (.*)", text)
    if is_stage(path) and first:
        bodies.pop(first[1].strip(), None)
    found = []
    prose = "\n\n".join(bodies.values())
    for match in HOUSE_WORDS.finditer(" ".join(prose.split())):
        found.append(f"house word: '{match[0]}'")
    if path.name.endswith(".log.md"):
        return found
    found += faults_of_sentences(sentences(prose))
    if path == PAGE_ZERO:
        length = len(words("\n\n".join(text for heading, text in by_heading.items() if heading != "Exercises")))
        if length > WORDS_OF_PAGE_ZERO:
            found.append(f"page zero has {length} words (at most {WORDS_OF_PAGE_ZERO})")
    if is_stage(path):
        for section in SECTIONS:
            if section not in by_heading:
                found.append(f"no section '## {section}'")
        lesson = "\n\n".join(t for h, t in bodies.items() if not h.startswith("Exercise"))
        if (length := len(words(lesson))) > WORDS:
            found.append(f"a lesson of {length} words (at most {WORDS})")
        for section, needs in SAYS.items():
            body = said(text, section)
            found += [
                f"'## {section}' does not say {what}" for what, words_of in needs.items() if not words_of.search(body)
            ]
    for heading, body in bodies.items():
        exercise = heading.startswith("Exercise")
        typed = typed_numbers(heading, body) if is_stage(path) else [] if exercise else typed_elsewhere(body)
        found += [f"'{number}' is typed, not generated: {sentence[:80]}" for number, sentence in typed]
    found += [f"'{cell}' is typed, not generated: in a column '{head}'" for cell, head in typed_cells(text)]
    return found


def pages():
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    found += [path for folder in ("docs", "course", *FAMILIES) for path in sorted((ROOT / folder).rglob("*.md"))]
    return [path for path in found if path != DOCS / "sources.md"]  # a table of the sources' own words


class Lessons(unittest.TestCase):
    def setUp(self):
        self.waiting = set(WAITING.read_text().split())

    def test_pages_can_be_read(self):
        for path in pages():
            name = path.relative_to(ROOT).as_posix()
            if name not in self.waiting:
                with self.subTest(name):
                    self.assertEqual(faults(path), [])

    def test_heads_can_be_read(self):
        for family in FAMILIES:
            for path in sorted((ROOT / family).glob("[0-9]*.cu")):
                with self.subTest(f"{family}/{path.name}"):
                    self.assertIn("\n\n", head_of(path.read_text()))
                    self.assertEqual(faults_of_head(path.read_text()), [])
        for wrong in (
            "The loads are on their way.",
            "Of these it reads two.",
            "It reads " + "one word or " * 9 + "two.",
        ):
            self.assertTrue(faults_of_head(f"// 99 made up\n//\n// Idea      {wrong}\nint i;"), wrong)

    def test_waiting_pages_exist_and_have_faults(self):
        for name in self.waiting:
            with self.subTest(name):
                self.assertTrue((ROOT / name).exists(), "is no page")
                self.assertTrue(faults(ROOT / name), "keeps all rules: take it off the list")

    def test_the_glossary_has_the_terms(self):
        """Those that page zero and the lessons take for granted, and no house words for them."""
        terms = re.findall(r"^\*\*(.+?)\.\*\* ", (DOCS / "glossary.md").read_text(), re.M)
        self.assertEqual(terms, sorted(terms, key=lambda term: term.lower().replace("-", "")), "in order")
        self.assertLessEqual(TERMS, set(terms))
        self.assertFalse(set(terms) & {"Place", "Turn", "Share"})
        bold = re.findall(r"\*\*([A-Z]{2,}|[a-z ]+)\*\*", PAGE_ZERO.read_text())
        known = " ".join(terms).lower()
        for term in bold:
            self.assertIn(term.removesuffix("s").lower(), known, f"page zero introduces {term}")

    def test_a_log_has_its_page(self):
        for path in DOCS.rglob("*.log.md"):
            page = path.with_name(path.name.replace(".log.md", ".md"))
            self.assertTrue(page.exists(), path)
            self.assertIn(path.name, page.read_text(), f"{page} does not lead to its log")

    def test_the_rules_find_what_they_are_for(self):
        """Each of them, in a text made for it."""
        page = DOCS / "stages" / "99_made_up.md"
        say = {"By hand": "One FLOP/B. Two blocks per SM.", "Measurement": "As predicted."}
        good = "\n".join(
            f"## {section}\n\nA warp reads a row. It is short. {say.get(section, '')}" for section in SECTIONS
        )

        class Text:
            name, parent = page.name, page.parent

            def __init__(self, text):
                self.text = text

            def read_text(self):
                return self.text

        self.assertEqual(faults(Text("# 99\n\n" + good)), [])
        wrong = {
            "house word": "The loads are on their way.",
            "begins with": "Of these it reads two.",
            "sentences of": " ".join(["It " + "reads one word after another " * 6 + "."] * 12),
            "a lesson of": "A warp reads a row of the tile. " * 150,
            "typed": "It reaches 31.5 TFLOP/s.",
        }
        for what, text in wrong.items():
            changed = good.replace("## Measurement\n", f"## Measurement\n\n{text}\n", 1)
            self.assertTrue(any(what in fault for fault in faults(Text("# 99\n\n" + changed))), what)
        self.assertTrue(
            any("no section" in fault for fault in faults(Text("# 99\n\n" + good.replace("## By hand", "##"))))
        )
        for words_of in say.values():
            for sentence in words_of.split(". "):
                self.assertTrue(
                    any("not say" in fault for fault in faults(Text("# 99\n\n" + good.replace(sentence, ""))))
                )
        faulty = {
            "Idea": "A copy takes 31 us.",
            "By hand": "An H200 reads 4.5 TB/s.",
            "Prediction": "Stage 07 takes 12 ms, so this one should. It ran at 30 TFLOP/s.",
            "Exercise": "It reached 93 % of the peak.",
            "What bounds it": "The cores are busy for 93 % of the time.",
            "Measurement": "| | predicted | measured |\n|---|---|---|\n| 4096 | 31.5 | 30.2 |",
        }
        fine = {
            "Idea": "A tile needs 4 KB of the 228 KB on each of 132 SMs.",
            "By hand": "Six blocks are 24 warps of 64, or 37.5 %.",
            "Prediction": "We expect that it reaches 31.5 TFLOP/s. At 4 TB/s this takes 12 us, 1.5 times as long.",
            "Exercise": "16 of 64 are 25 %.",
            "What bounds it": "At most 93 % are possible.",
            "Measurement": "| | predicted | measured |\n|---|---|---|\n| 4096 | 31.5 | <!-- = x -->30.2<!-- / --> |",
        }
        for section in SECTIONS:
            for text, typed in ((faulty[section], True), (fine[section], False)):
                changed = good.replace(f"## {section}\n", f"## {section}\n\n{text}\n", 1)
                self.assertEqual(any("typed" in fault for fault in faults(Text("# 99\n\n" + changed))), typed, text)
        marked = good.replace("## Measurement\n", "## Measurement\n\nIt reaches <!-- = x -->31.5<!-- / --> TFLOP/s.\n")
        self.assertEqual(faults(Text("# 99\n\n" + marked)), [])


def show(part):
    bad = 0
    for path in pages():
        name = path.relative_to(ROOT).as_posix()
        if part not in name:
            continue
        found = faults(path)
        bad += bool(found)
        bodies = {h: t for h, t in parts(path.read_text()).items() if h not in ("", "Log", "Source")}
        print(f"{name}: " + ", ".join(f"{h} {len(words(t))}" for h, t in bodies.items()) + " words")
        for fault in found:
            print(f"  {fault}")
        for sentence in sentences("\n\n".join(bodies.values())):
            if len(words(sentence)) > NINTH:
                print(f"  {len(words(sentence))} words: {sentence[:150]}")
    return 1 if bad else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--pages")
    options, rest = parser.parse_known_args()
    if options.pages is not None:
        sys.exit(show(options.pages))
    unittest.main(argv=[sys.argv[0], *rest])
