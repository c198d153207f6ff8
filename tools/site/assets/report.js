// A ladder here beside the committed one.

const MOST = 10; // pairs in words
const get = (id) => document.getElementById(id);
const { here, problems, tie_pct: tie } = window.DATA;
// The last one is the largest, where the order of rungs is that of the lessons.
let problem = problems.filter((each) => each.committed).at(-1) || problems.at(-1);
let chosen = null, rows = [];

const FIELDS = {
  gflops: ["gflops", "GFLOP/s"],
  cublas: ["pct_cublas", "% of cuBLAS in the same run"],
  roofline: ["pct_roofline", "% of the card's own roofline"],
};
const there = () => problem.committed ? problem.committed.device : "";
const labelOf = (stage) => problem.rungs.find((rung) => rung.stage === stage).label;
const timed = () => problem.rungs.filter((rung) => rung.here || rung.there);
const isNarrow = () => get("pairs").clientWidth < 700;
// On one kind of card both have the same name.
const names = () => here.device === there() ? ["this one", `committed ${there()}`] : [here.device, there()];

// ---- a row for each rung, a dot for each card

function drawPairs() {
  const svg = get("pairs"), small = smallText(), [field, title] = FIELDS[get("unit").value], shown = timed();
  const height = small * 1.5, top = small * 6.2, value = (rung, at) => rung[at] && rung[at][field];
  svg.style.height = `${top + height * shown.length + small / 2}px`;
  svg.replaceChildren();
  rows = [];
  const values = shown.flatMap((rung) => [value(rung, "here"), value(rung, "there")]).filter((x) => x);
  if (!values.length) return;
  const name = (rung) => isNarrow() ? rung.short : rung.label;
  const bottom = top + height * shown.length;
  const box = { left: widest(shown.map(name)) + 14, right: svg.clientWidth - 24, top, bottom };
  const low = Math.min(...values) / 1.2, high = Math.max(...values) * 1.2;
  const x = scaleOf(low, high, box.left, box.right, true);
  svg.append(drawn("rect", { class: "marker", x: 0, width: svg.clientWidth, height, visibility: "hidden" }));
  const noAxis = { scale: () => 0, ticks: [], title: "" };
  drawAxes(svg, box, { scale: x, ticks: logTicks(low, high), title, above: true }, noAxis);
  drawKey(svg, small);
  shown.forEach((rung, i) => {
    const y = box.top + height * (i + 0.5), ends = [value(rung, "here"), value(rung, "there")];
    rows.push({ rung, y, x: svg.clientWidth / 2, top: y - height / 2 });
    svg.append(drawn("text", { x: box.left - 10, y: y + small * 0.35, "text-anchor": "end" }, name(rung)));
    if (ends[0] && ends[1]) {
      svg.append(drawn("line", { x1: x(ends[0]), x2: x(ends[1]), y1: y, y2: y, stroke: "var(--soft)", class: "gap" }));
    }
    if (ends[1]) svg.append(diamond(x(ends[1]), y));
    if (ends[0]) svg.append(circle(x(ends[0]), y));
  });
  point(rows.find((row) => row.rung.stage === chosen) || null);
}

const circle = (cx, cy) => drawn("circle", { cx, cy, r: 5.5, class: "here" });
const diamond = (x, y) => drawn("path", { d: `M${x - 7} ${y}l7 -7l7 7l-7 7z`, class: "there" });

// Which mark is which card: above the drawing, each in its colour.
function drawKey(svg, small) {
  names().filter(Boolean).forEach((name, i) => {
    const y = small * (1.1 + 1.5 * i);
    svg.append(i ? diamond(12, y - small * 0.35) : circle(12, y - small * 0.35));
    svg.append(drawn("text", { x: 26, y, class: i ? "there" : "here" }, name));
  });
}

const shares = (of) => [[of.pct_cublas, "of cuBLAS"], [of.pct_roofline, "of the roofline"]]
  .filter(([x]) => x !== null && x !== undefined).map(([x, what]) => `, ${number(x)} % ${what}`).join("");
const spoken = (name, of) => of ? ` ${name}: ${number(of.gflops)} GFLOP/s${shares(of)}.` : ` ${name}: no time.`;

function point(row) {
  const marker = get("pairs").querySelector(".marker");
  chosen = row && row.rung.stage;
  if (marker) marker.setAttribute("visibility", row ? "visible" : "hidden");
  if (!row) {
    get("reading").textContent = "Point at a rung, or use the arrow keys on the plot.";
    return;
  }
  marker.setAttribute("y", row.top);
  const { rung } = row, [ours, theirs] = names();
  const ratio = rung.ratio ? ` Ratio ${number(rung.ratio)}.` : "";
  const why = rung.reason ? ` ${rung.status}: ${rung.reason}.` : "";
  const beside = theirs ? spoken(theirs, rung.there) : "";
  get("reading").replaceChildren(made("b", {}, rung.label), spoken(ours, rung.here) + beside + ratio + why);
}

function onKey(event) {
  const moves = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
  if (event.key === "Escape") return point(null);
  if (!(event.key in moves) || !rows.length) return undefined;
  event.preventDefault();
  const at = rows.findIndex((row) => row.rung.stage === chosen);
  return point(at < 0 ? rows[0] : rows[at + moves[event.key]] || rows[at]);
}

// ---- in words

function drawSwaps() {
  const bold = (stage) => made("b", {}, labelOf(stage));
  const items = problem.swaps.slice(0, MOST).map((swap) => made("li", {}, bold(swap.faster), " is faster than ",
    bold(swap.slower), ` here, by ${number(swap.here_pct)} %; on ${names()[1]} it is slower, by `
    + `${number(swap.there_pct)} %.`));
  const more = problem.swaps.length - items.length;
  if (more > 0) items.push(made("li", {}, `and ${more} more pairs: the table has all of them.`));
  const none = problem.committed ? `Nowhere: all rungs stand in the same order, or nearer to each other than ${tie} %.`
    : "Nothing is committed for this problem, so there is no order to compare with.";
  get("swaps").replaceChildren(...(items.length ? items : [made("li", {}, none)]));
}

function drawSummary() {
  const wrong = problem.rungs.filter((rung) => rung.status === "fail").map((rung) => rung.label);
  const best = timed().filter((rung) => rung.here && !rung.stage.startsWith("cublas/"))
    .sort((a, b) => b.here.gflops - a.here.gflops)[0];
  const lead = best ? `Fastest here: ${best.label}, ${number(best.here.gflops)} GFLOP/s${shares(best.here)}.`
    : "No rung was timed.";
  const beside = problem.committed ? ` Beside it: ${there()}, commit ${problem.committed.commit}.`
    : " Nothing is committed for it.";
  get("summary").textContent = lead + beside + (wrong.length ? ` Wrong here: ${wrong.join(", ")}.` : "");
}

// Of a rung, those of the others that it passed or that passed it.
function orderOf(rung) {
  const shortOf = (stage) => problem.rungs.find((each) => each.stage === stage).short;
  const passed = problem.swaps.filter((swap) => swap.faster === rung.stage).map((swap) => shortOf(swap.slower));
  const behind = problem.swaps.filter((swap) => swap.slower === rung.stage).map((swap) => shortOf(swap.faster));
  return [passed.length ? `ahead of ${passed.join(", ")}` : "", behind.length ? `behind ${behind.join(", ")}` : ""]
    .filter(Boolean).join("; ");
}

const HEAD = ["rung", "GFLOP/s here", "there", "ratio", "order differs", "% cuBLAS here", "there", "% roofline here",
  "there", "place here", "there", "status"];

function drawTable() {
  const both = (rung, key) => [rung.here, rung.there].map((of) => (of && of[key]) ?? null).map((x) => [number(x), x]);
  sortable(get("rungs"), HEAD, problem.rungs.map((rung) => {
    const moved = orderOf(rung), status = rung.reason ? `${rung.status}: ${rung.reason}` : rung.status;
    return [[rung.label, rung.label], ...both(rung, "gflops"), [number(rung.ratio), rung.ratio], [moved, moved || null],
      ...both(rung, "pct_cublas"), ...both(rung, "pct_roofline"), ...both(rung, "place"), [status, rung.status]];
  }));
}

// ---- the machines

const CEILINGS = {
  read_gbs: "device memory, read, GB/s",
  scale_gbs: "device memory, scale, GB/s",
  shared_gbs: "shared memory, GB/s",
  ffma_gflops: "FFMA, GFLOP/s",
  dfma_gflops: "DFMA, GFLOP/s",
  dmma_gflops: "DMMA, GFLOP/s",
  hmma_gflops: "FP16 mma, GFLOP/s",
  tmma_gflops: "TF32 mma, GFLOP/s",
  launch_us: "launch, us",
  latency_ns: "latency of device memory, ns",
};

function factsOf(run) {
  if (!run) return {};
  const { clocks } = run, known = Boolean(clocks.sm_mhz), mhz = known ? [...new Set(clocks.sm_mhz)].join(" to ") : "";
  return {
    GPU: run.device,
    "compute capability": run.compute_capability && run.compute_capability / 10,
    SMs: run.sm_count,
    driver: run.driver,
    CUDA: run.cuda,
    cuBLAS: run.cublas,
    "clock of the SMs, MHz": mhz || "not recorded",
    "clock of the memory, MHz": known ? number(clocks.memory_mhz) : "not recorded",
    "power at most, W": known ? number(clocks.watts) : "not recorded",
    "clocks held back by": known ? clocks.throttle || "nothing" : "not recorded",
    commit: run.commit,
    command: run.command,
  };
}

function drawFacts() {
  const [a, b] = [factsOf(here), factsOf(problem.committed)], ratio = (x, y) => x && y ? number(x / y) : "";
  const found = Object.keys(a).map((key) => [key, a[key] || "-", b[key] || "-", ""]);
  for (const [key, name] of Object.entries(CEILINGS)) {
    const x = here.ceilings[key], y = problem.committed && problem.committed.ceilings[key];
    if (x || y) found.push([name, number(x), number(y), ratio(x, y)]);
  }
  const head = made("tr", {}, ...["", "here", "committed", "ratio"].map((name, i) => made("th", { scope: "col",
    class: i ? "text" : "" }, name)));
  const body = found.map(([name, ...cells]) => made("tr", {}, made("th", { scope: "row", class: "text" }, name),
    ...cells.map((text) => made("td", { class: "text wrap" }, String(text)))));
  get("facts").replaceChildren(made("thead", {}, head), made("tbody", {}, ...body));
}

function show() {
  chosen = null;
  drawSummary();
  drawPairs();
  drawSwaps();
  drawTable();
  drawFacts();
}

function start() {
  const select = get("problem");
  problems.forEach((each, i) => select.append(made("option", { value: i }, each.title)));
  select.value = problems.indexOf(problem);
  select.onchange = () => { problem = problems[select.value]; show(); };
  get("unit").onchange = drawPairs;
  get("pairs").onkeydown = onKey;
  onPoint(get("pairs"), (x, y) => point(nearest(rows, get("pairs").clientWidth / 2, y)));
  show();
  keepDrawn(drawPairs);
}

start();
