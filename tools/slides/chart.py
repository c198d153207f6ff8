"""How fast a stage is beside those before it: bars, from the committed measurements."""

import dataclasses
import html

from tools.pages.data import HEADLINE, Data, NotMeasured
from tools.pages.notes import measured_on
from tools.pages.records.tensor import measured
from tools.repository import GPU, Json, read_json_if_there, with_history
from tools.rungs import base_of, number_of
from tools.slides.choice import title_of

MOST = 6  # stages of a chart; its prediction and cuBLAS make eight bars


@dataclasses.dataclass(frozen=True)
class Bar:
    label: str
    value: float
    text: str
    kind: str  # this, before, predicted or library


@dataclasses.dataclass(frozen=True)
class Chart:
    bars: list[Bar]
    caption: str


def short(stage: str) -> str:
    """NN name: all of a chart are of one family."""
    return title_of(stage).rpartition("/")[2]


def speed(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def result_in(run: Json | None, stage: str, size: tuple[int, int, int]) -> Json | None:
    for r in (run or {"results": []})["results"]:
        if r["stage"] == stage and tuple(r["problem"][key] for key in "mnk") == size and "time_ms" in r:
            return r
    return None


def bars_of(stage: str, before: list[str], results: dict[str, float], unit: str) -> list[Bar]:
    """The last of those before that were measured, and the stage."""
    kept = [each for each in before if each in results][-(MOST - 1) :]
    return [
        Bar(short(each), results[each], f"{speed(results[each])} {unit}", "this" if each == stage else "before")
        for each in [*kept, stage]
    ]


def sgemm(data: Data, stage: str, before: list[str]) -> Chart | None:
    results = {
        each: data.results[each, HEADLINE]["gflops"] / 1e3
        for each in [*before, stage]
        if "gflops" in data.results.get((each, HEADLINE), {})
    }
    if stage not in results:
        return None
    its = data.results[stage, HEADLINE]
    bars = bars_of(stage, before, results, "TFLOP/s")
    if "predicted" in its:
        predicted = its["predicted"]["gflops"] / 1e3
        label = f"{number_of(stage)} predicted, as written"
        bars.append(Bar(label, predicted, f"{speed(predicted)} TFLOP/s", "predicted"))
    if "pct_cublas" in its:
        library = its["gflops"] / 10 / its["pct_cublas"]
        bars.append(Bar("cuBLAS, FP32", library, f"{speed(library)} TFLOP/s", "library"))
    return Chart(bars, f"TFLOP/s at M = N = K = {HEADLINE.split('x')[0]}. {measured_on(data.ladder)}")


def tall_skinny(data: Data, stage: str, before: list[str]) -> Chart | None:
    """Stages of the same product, at the longest K that all of them were timed at."""
    product = "tsmm" if "TsmmProblem" in data.source(stage) else "tsm"
    run = read_json_if_there(GPU / f"{product}_d.json")
    for size in ((16, 16, 33_554_432), (16, 16, 262_144)):
        found = {each: result_in(run, each, size) for each in [*before, stage]}
        if run and (its := found[stage]):
            results = {each: r["gbytes_s"] for each, r in found.items() if r}
            bars = bars_of(stage, before, results, "GB/s")
            roof = run["ceilings"]["read_gbs"]
            bars.append(Bar("read bandwidth", roof, f"{speed(roof)} GB/s", "library"))
            if "pct_cublas" in its:
                library = its["gbytes_s"] * 100 / its["pct_cublas"]
                bars.append(Bar("cuBLAS", library, f"{speed(library)} GB/s", "library"))
            return Chart(bars, f"GB/s, double, M = N = {size[0]}, K = {size[2]:,}. {measured_on(run)}")
    return None


def tensor(data: Data, stage: str, before: list[str]) -> Chart | None:
    """FP16 products beside FP16 products, FP32 ones beside FP32 ones; only what one run has measured."""
    for run in (measured("h"), measured("s")):
        found = {each: result_in(run, each, (4096, 4096, 4096)) for each in [*before, stage]}
        if run and (its := found[stage]):
            results = {each: r["gflops"] / 1e3 for each, r in found.items() if r}
            bars = bars_of(stage, before, results, "TFLOP/s")
            if "pct_cublas" in its:
                library = its["gflops"] / 10 / its["pct_cublas"]
                bars.append(Bar("cuBLAS", library, f"{speed(library)} TFLOP/s", "library"))
            return Chart(bars, f"TFLOP/s at M = N = K = 4096. {measured_on(run)}")
    return None


def chart_of(data: Data, stage: str, deck: list[str]) -> Chart | None:
    """`deck`: the stages that are shown. Those of the stage's family before it; if there are none, those that it grows
    from. None: it has no time of its own."""
    family = stage.split("/")[0]
    before = [each for each in deck[: deck.index(stage)] if each.startswith(f"{family}/")]
    base = base_of(stage)
    while not before and base:
        before, base = [base, *before], base_of(base)
    try:
        return {"sgemm": sgemm, "tsm": tall_skinny, "tensorcore": tensor}[family](data, stage, before)
    except NotMeasured:
        return None


def html_of(chart: Chart) -> str:
    """Rows of text and bars, as wide as the screen allows: no text lies in a drawing that is scaled."""
    most = max(bar.value for bar in chart.bars)
    rows = "".join(
        f'<div class="bar-row {bar.kind}"><span>{html.escape(bar.label)}</span>'
        f'<span class="track"><span class="fill" style="width:{100 * bar.value / most:.2f}%"></span></span>'
        f"<span>{html.escape(bar.text)}</span></div>"
        for bar in chart.bars
    )
    caption = with_history([chart.caption])[0].replace("`", "")
    return f'<div class="bars">{rows}</div><p class="soft">{html.escape(caption)}.</p>'
