// The ladder: curves over a size, the roofline, and a table of all rungs.

const MOST = 7; // curves beside that of cuBLAS: a projector shows eight that one tells apart
const get = (id) => document.getElementById(id);
const { runs, products } = window.DATA;
const state = { product: products[0], chosen: new Map(), at: null, dot: null, line: 0 };

const UNITS = {
  gflops: { index: 1, title: "GFLOP/s" },
  cublas: { index: 3, title: "% of cuBLAS" },
  roofline: { index: 4, title: "% of the roofline" },
};
const unit = () => UNITS[get("unit").value];
const isLog = () => get("scale").value === "log";
const isNarrow = () => get("speed").clientWidth < 700;
const curveOf = (stage) => state.product.curves.find((curve) => curve.stage === stage);
const reference = () => state.product.reference;
const colourOf = (stage) => stage === reference() ? "var(--fore)"
  : state.chosen.has(stage) ? `var(--c${state.chosen.get(stage) + 1})` : "var(--soft)";
const where = (run) => `${runs[run].device}, commit ${runs[run].commit}`;

// ---- which curves

// A curve keeps its colour while others come and go.
function choose(stage) {
  const taken = new Set(state.chosen.values());
  let colour = 0;
  while (taken.has(colour)) ++colour;
  if (colour < MOST) state.chosen.set(stage, colour);
  return colour < MOST;
}

function usual() {
  state.chosen.clear();
  state.product.usual.slice(0, MOST).forEach(choose);
}

function toggle(stage) {
  if (!state.chosen.delete(stage) && !choose(stage)) {
    get("chip-note").textContent = `${MOST} curves beside cuBLAS at most: switch one off first`;
    return;
  }
  get("chip-note").textContent = "";
  drawChips();
  drawAll();
}

function drawChips() {
  const focused = document.activeElement && document.activeElement.dataset.stage;
  const chips = state.product.curves.filter((curve) => curve.stage !== reference()).map((curve) => {
    const on = state.chosen.has(curve.stage), rest = curve.label.slice(curve.short.length);
    const chip = made("button", { type: "button", "aria-pressed": on, "data-stage": curve.stage, class: on ? "on" : "",
      "aria-label": curve.label });
    if (on) chip.style.setProperty("--chip", colourOf(curve.stage));
    const isRung = curve.label.startsWith(curve.short);
    chip.append(isRung ? curve.short : curve.label);
    if (isRung) chip.append(made("span", { class: on ? "" : "name" }, rest));
    chip.onclick = () => toggle(curve.stage);
    return chip;
  });
  get("chips").replaceChildren(...chips);
  const again = chips.find((chip) => chip.dataset.stage === focused);
  if (again) again.focus();
}

// ---- speed against size

const shownCurves = () => state.product.curves.filter((c) => state.chosen.has(c.stage) || c.stage === reference());
const onGrid = (size) => !state.product.grid || size % state.product.grid === 0;
let spots = []; // what a pointer or a key may point at: curve, point, x, y

function drawSpeed() {
  const svg = get("speed"), { index, title } = unit(), log = isLog(), small = smallText();
  const curves = shownCurves().map((curve) => ({ ...curve, points: curve.points.filter((p) => p[index] !== null) }))
    .filter((curve) => curve.points.length);
  const bound = index === 1 ? state.product.bound : index === 4 ? ["roofline", 100] : null;
  const values = curves.flatMap((curve) => curve.points.map((p) => p[index])), nothing = !values.length;
  svg.replaceChildren();
  spots = [];
  if (nothing) return;
  const name = (curve) => isNarrow() ? curve.short : curve.label;
  const boundName = bound && (index === 1 && !isNarrow() ? `${bound[0]} ceiling` : isNarrow() ? "ceiling" : bound[0]);
  const names = [...curves.map(name), ...(bound ? [boundName] : [])];
  const sizes = state.product.curves.flatMap((curve) => curve.points.map((p) => p[0]));
  const highest = Math.max(...values, bound ? bound[1] : 0);
  const [low, high] = log ? [Math.min(...values) / 1.3, highest * 1.3] : [0, highest * 1.06];
  const ticks = log ? logTicks(low, high) : lineTicks(high);
  const box = { left: widest(ticks.map(number)) + 12, right: svg.clientWidth - widest(names) - 20,
    top: small * 1.8, bottom: svg.clientHeight - small * 3.1 };
  const x = scaleOf(Math.min(...sizes), Math.max(...sizes), box.left + 8, box.right - 8, true);
  const y = scaleOf(low, high, box.bottom, box.top, log);
  const marks = [...new Set(sizes)].sort((a, b) => a - b);
  const powers = marks.filter((size) => Number.isInteger(Math.log2(size)));
  drawAxes(svg, box, { scale: x, ticks: powers, title: state.product.axis }, { scale: y, ticks, title });
  if (bound) {
    const at = y(bound[1]);
    svg.append(drawn("line", { x1: box.left, x2: box.right, y1: at, y2: at, class: "bound" }));
  }
  const ends = bound ? [{ x: box.right, y: y(bound[1]), text: boundName, colour: "var(--soft)" }] : [];
  for (const curve of curves) {
    const colour = colourOf(curve.stage), line = curve.points.filter((p) => onGrid(p[0]));
    const path = line.map((p, i) => `${i ? "L" : "M"}${x(p[0]).toFixed(1)} ${y(p[index]).toFixed(1)}`).join("");
    const isReference = curve.stage === reference();
    svg.append(drawn("path", { d: path, stroke: colour, class: isReference ? "curve reference" : "curve" }));
    for (const point of curve.points) {
      const spot = { curve, point, x: x(point[0]), y: y(point[index]) };
      spots.push(spot);
      if (!onGrid(point[0])) {
        const d = `M${spot.x - 4} ${spot.y - 4}l8 8m0-8l-8 8`;
        svg.append(drawn("path", { d, stroke: colour, class: "curve", style: "stroke-width:1.6" }));
      } else if (line.length <= 20 && !isReference) {
        svg.append(drawn("circle", { cx: spot.x, cy: spot.y, r: 3.2, fill: colour }));
      }
    }
    const last = line[line.length - 1] || curve.points[curve.points.length - 1];
    ends.push({ x: x(last[0]), y: y(last[index]), text: name(curve), colour });
  }
  labelEnds(svg, box, ends);
  svg.append(drawn("line", { class: "cross", y1: box.top, y2: box.bottom, visibility: "hidden" }));
  svg.append(drawn("circle", { class: "ring", r: 8, visibility: "hidden" }));
  const again = state.at && spots.find((s) => s.curve.stage === state.at.stage && s.point[0] === state.at.size);
  point(again || null);
}

// Rings a spot, and says what it is.
function point(spot) {
  const svg = get("speed"), cross = svg.querySelector(".cross"), ring = svg.querySelector(".ring");
  state.at = spot && { stage: spot.curve.stage, size: spot.point[0] };
  for (const node of [cross, ring]) node.setAttribute("visibility", spot ? "visible" : "hidden");
  if (!spot) {
    get("reading").textContent = "Point at a curve, or use the arrow keys on the plot: its number, card and commit.";
    return;
  }
  cross.setAttribute("x1", spot.x);
  cross.setAttribute("x2", spot.x);
  ring.setAttribute("cx", spot.x);
  ring.setAttribute("cy", spot.y);
  const [size, gflops, ms, ofCublas, ofRoof, run] = spot.point;
  const shares = [[ofCublas, "of cuBLAS"], [ofRoof, "of the roofline"]].filter(([x]) => x !== null)
    .map(([x, what]) => `, ${number(x)} % ${what}`).join("");
  const name = made("b", {}, spot.curve.label);
  name.style.color = colourOf(spot.curve.stage);
  get("reading").replaceChildren(name, ` at ${state.product.axis} = ${number(size)}: `
    + `${number(gflops)} GFLOP/s${shares}, ${number(ms)} ms. ${where(run)}.`);
}

// Left and right: sizes of a curve. Up and down: the next faster or slower curve at that size.
function onSpeedKey(event) {
  const here = spots.find((s) => state.at && s.curve.stage === state.at.stage && s.point[0] === state.at.size);
  const of = (spot) => spots.filter((s) => s.curve.stage === spot.curve.stage);
  const beside = (spot, by) => { const all = of(spot); return all[all.indexOf(spot) + by] || spot; };
  const above = (spot, by) => {
    const nearby = [...new Set(spots.map((s) => s.curve))].map((curve) => {
      const all = spots.filter((s) => s.curve === curve);
      return all.reduce((a, b) => Math.abs(a.x - spot.x) <= Math.abs(b.x - spot.x) ? a : b);
    }).sort((a, b) => b.y - a.y);
    return nearby[nearby.indexOf(nearby.find((s) => s.curve === spot.curve)) + by] || spot;
  };
  const moves = { ArrowRight: (s) => beside(s, 1), ArrowLeft: (s) => beside(s, -1), ArrowUp: (s) => above(s, 1),
    ArrowDown: (s) => above(s, -1), Home: (s) => of(s)[0], End: (s) => of(s)[of(s).length - 1], Escape: () => null };
  if (!(event.key in moves) || !spots.length) return;
  event.preventDefault();
  point(here ? moves[event.key](here) : event.key === "Escape" ? null : spots[0]);
}

// ---- the roofline

const roofOwner = () => state.product.roofline ? state.product
  : products.find((product) => product.key === state.product.sameRoofline);
let dots = [];

function drawRoofline() {
  const svg = get("roof"), owner = roofOwner(), small = smallText();
  const roofline = owner && owner.roofline;
  svg.replaceChildren();
  dots = [];
  get("roof-of").textContent = roofline ? "" : "Nothing was counted for this product.";
  if (!roofline) return;
  const lines = roofline.lines, line = lines[Math.min(state.line, lines.length - 1)];
  get("roof-lines").replaceChildren(...lines.map((each, i) => {
    const on = each === line, button = made("button", { type: "button", "aria-pressed": on, class: on ? "on" : "" });
    button.append(each.what);
    button.style.setProperty("--chip", "var(--c1)");
    button.onclick = () => { state.line = i; state.dot = null; drawRoofline(); get("roof-lines").children[i].focus(); };
    return button;
  }));
  const curve = (stage) => owner.curves.find((each) => each.stage === stage);
  const of = owner === state.product ? "" : ` (${owner.group}, ${owner.title}: ${state.product.title} was not counted)`;
  get("roof-of").textContent = `Flop per byte ${line.how}. Speeds at ${owner.axis} = ${number(roofline.at)}${of}, `
    + `ceilings measured in the same run.`;
  const found = roofline.dots.filter((dot) => dot[line.key]);
  const peak = Math.max(...roofline.peaks.map(([, gflops]) => gflops)), ridge = peak / line.gbs;
  const per = found.map((dot) => dot[line.key]);
  const lowX = Math.min(...per, ridge) / 2, highX = Math.max(...per, ridge) * 2;
  const lowY = Math.min(...found.map((dot) => dot.gflops), lowX * line.gbs * 4) / 1.6;
  const isChosen = (dot) => state.chosen.has(dot.stage) && owner === state.product;
  const name = (dot) => curve(dot.stage)[isNarrow() ? "short" : "label"];
  // As much room above the roof as the names of its parts need.
  const top = small * 1.8, bottom = svg.clientHeight - small * 3.1, room = small * 1.4 * (roofline.peaks.length + 1);
  const highY = peak * (peak / lowY) ** (room / (bottom - top - room));
  const ticks = logTicks(lowY, highY);
  const names = widest(found.filter(isChosen).map(name));
  const box = { left: widest(ticks.map(number)) + 12, right: svg.clientWidth - names - 20, top, bottom };
  const x = scaleOf(lowX, highX, box.left, box.right, true), y = scaleOf(lowY, highY, bottom, top, true);
  const title = isNarrow() ? "flop per byte" : `flop per byte ${line.what}`;
  drawAxes(svg, box, { scale: x, ticks: logTicks(lowX, highX), title }, { scale: y, ticks, title: "GFLOP/s" });
  const from = Math.max(lowX, lowY / line.gbs);
  const stroke = (d) => svg.append(drawn("path", { d, class: "curve", stroke: "var(--fore)" }));
  stroke(`M${x(from)} ${y(from * line.gbs)}L${x(ridge)} ${y(peak)}`);
  const texts = [isNarrow() ? `${number(line.gbs)} GB/s` : `${line.name}: ${number(line.gbs)} GB/s (slope)`];
  for (const [each, gflops] of roofline.peaks) {
    stroke(`M${x(gflops / line.gbs)} ${y(gflops)}L${box.right} ${y(gflops)}`);
    texts.push(isNarrow() ? `${number(gflops)} GFLOP/s` : `${each}: ${number(gflops)} GFLOP/s (flat)`);
  }
  texts.forEach((text, i) => {
    svg.append(drawn("text", { x: box.left + 4, y: box.top + small * (0.8 + 1.4 * i), class: "other" }, text));
  });
  dots = found.map((dot) => ({ dot, x: x(dot[line.key]), y: y(dot.gflops), label: curve(dot.stage).label, line, peak }))
    .sort((a, b) => a.x - b.x || b.y - a.y);
  const inFront = [...dots].sort((a, b) => isChosen(a.dot) - isChosen(b.dot));
  for (const { dot, x: cx, y: cy } of inFront) {
    const fill = isChosen(dot) ? colourOf(dot.stage) : "var(--soft)";
    svg.append(drawn("circle", { cx, cy, r: isChosen(dot) ? 6 : 4, fill }));
  }
  labelEnds(svg, box, dots.filter(({ dot }) => isChosen(dot))
    .map((spot) => ({ x: spot.x, y: spot.y, text: name(spot.dot), colour: colourOf(spot.dot.stage) })));
  const others = dots.filter(({ dot }) => !isChosen(dot));
  const roof = [[x(from), y(from * line.gbs)], [x(ridge), y(peak)], [box.right, y(peak)]];
  nameDots(svg, box, others.map((spot) => [spot, curve(spot.dot.stage).short]), texts.length, roof);
  svg.append(drawn("circle", { class: "ring", r: 9, visibility: "hidden" }));
  pointDot(dots.find(({ dot }) => dot.stage === state.dot) || null);
}

// The numbers of the other rungs beside their dots, as many as there is room for: not on dots, on texts, or on the roof.
function nameDots(svg, box, wanted, rows, roof) {
  const small = smallText(), height = small * 1.2;
  const taken = dots.map((spot) => ({ left: spot.x - 6, right: spot.x + 6, top: spot.y - 6, bottom: spot.y + 6 }));
  taken.push({ left: box.left, right: box.right, top: 0, bottom: box.top + small * 1.4 * rows });
  for (let i = 1; i < roof.length; ++i) {
    const [[x0, y0], [x1, y1]] = [roof[i - 1], roof[i]], steps = Math.ceil(Math.hypot(x1 - x0, y1 - y0) / 6);
    for (let step = 0; step <= steps; ++step) {
      const [x, y] = [x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps];
      taken.push({ left: x - 3, right: x + 3, top: y - 3, bottom: y + 3 });
    }
  }
  for (const [spot, text] of wanted) {
    const width = textWidth(text);
    for (const [dx, dy] of [[8, -height / 2], [-8 - width, -height / 2], [-width / 2, 7], [-width / 2, -7 - height]]) {
      const place = { left: spot.x + dx, right: spot.x + dx + width, top: spot.y + dy, bottom: spot.y + dy + height };
      const free = place.left > box.left && place.right < box.right && place.bottom < box.bottom
        && !taken.some((other) => other.left < place.right && other.right > place.left
          && other.top < place.bottom && other.bottom > place.top);
      if (!free) continue;
      taken.push(place);
      svg.append(drawn("text", { x: place.left, y: place.top + small, class: "other" }, text));
      break;
    }
  }
}

function pointDot(spot) {
  const ring = get("roof").querySelector(".ring");
  state.dot = spot && spot.dot.stage;
  if (ring) ring.setAttribute("visibility", spot ? "visible" : "hidden");
  if (!spot) {
    get("roof-reading").textContent = "Point at a dot, or use the arrow keys on the plot.";
    return;
  }
  ring.setAttribute("cx", spot.x);
  ring.setAttribute("cy", spot.y);
  const { dot, line, peak } = spot, allowed = Math.min(peak, dot[line.key] * line.gbs);
  const why = line.key === "global" ? ": caches answer most requests" : "";
  const above = dot.gflops > allowed ? `, and it is faster${why}` : "";
  const name = made("b", {}, spot.label);
  name.style.color = colourOf(dot.stage);
  get("roof-reading").replaceChildren(name, `: ${number(dot[line.key])} flop per byte ${line.what}, `
    + `${number(dot.gflops)} GFLOP/s. The lines allow ${number(allowed)}${above}. ${where(dot.run)}.`);
}

function onRoofKey(event) {
  const moves = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
  if (event.key === "Escape") return pointDot(null);
  if (!(event.key in moves) || !dots.length) return undefined;
  event.preventDefault();
  const here = dots.findIndex(({ dot }) => dot.stage === state.dot);
  return pointDot(here < 0 ? dots[0] : dots[here + moves[event.key]] || dots[here]);
}

// ---- the table

const HEAD = ["rung", "GFLOP/s", "% cuBLAS", "% roofline", "product", "size", "flop/byte, global", "flop/byte, shared",
  "card", "commit"];

function rowsOfAll() {
  const cell = (x) => [number(x), x === undefined ? null : x], text = (x) => [x, x];
  return products.flatMap((product) => product.curves.map((curve) => {
    const timed = curve.points, headline = timed.find((p) => p[0] === product.headline) || timed[timed.length - 1];
    const [size, gflops, , ofCublas, ofRoof, run] = headline;
    const dot = product.roofline && product.roofline.dots.find((each) => each.stage === curve.stage);
    return [text(curve.label), cell(gflops), cell(ofCublas), cell(ofRoof), text(`${product.group}, ${product.title}`),
      [`${product.axis} = ${number(size)}`, size], cell(dot ? dot.global : null), cell(dot ? dot.shared : null),
      text(runs[run].device), text(runs[run].commit)];
  }));
}

function startTable() {
  const all = rowsOfAll(), put = sortable(get("rungs"), HEAD, all), field = get("filter");
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = all.filter((row) => {
      const text = row.map(([shown]) => shown).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    put(rows);
    get("shown").textContent = `${rows.length} of ${all.length} rows`;
  };
  field.oninput = filter;
  filter();
}

// ---- all of it

function drawAll() {
  drawSpeed();
  drawRoofline();
}

function startProducts() {
  const select = get("product");
  for (const group of new Set(products.map((product) => product.group))) {
    const its = products.map((product, i) => [product, i]).filter(([product]) => product.group === group);
    select.append(made("optgroup", { label: group },
      ...its.map(([product, i]) => made("option", { value: i }, `${group}, ${product.title}`))));
  }
  select.onchange = () => {
    state.product = products[select.value];
    state.at = state.dot = null;
    get("chip-note").textContent = "";
    usual();
    drawChips();
    get("cards").textContent = cardsOf(state.product);
    drawAll();
  };
  select.onchange();
}

function cardsOf(product) {
  const its = [...new Set(product.curves.flatMap((curve) => curve.points.map((p) => p[5])))];
  return its.map((i) => runs[i]).map((run) => `${run.device}, driver ${run.driver}, CUDA ${run.cuda}, `
    + `cuBLAS ${run.cublas}, commit ${run.commit}: ${run.file}`).join("; ")
    + (product.grid ? `. Crosses: sizes that ${product.grid} does not divide.` : ".");
}

function start() {
  startProducts();
  startTable();
  get("unit").onchange = drawSpeed;
  get("scale").onchange = drawSpeed;
  get("usual").onclick = () => { usual(); get("chip-note").textContent = ""; drawChips(); drawAll(); };
  get("none").onclick = () => { state.chosen.clear(); get("chip-note").textContent = ""; drawChips(); drawAll(); };
  onPoint(get("speed"), (x, y) => point(nearest(spots, x, y)));
  get("speed").onkeydown = onSpeedKey;
  onPoint(get("roof"), (x, y) => pointDot(nearest(dots, x, y)));
  get("roof").onkeydown = onRoofKey;
  keepDrawn(drawAll);
}

start();
