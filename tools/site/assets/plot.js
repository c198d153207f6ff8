// What the drawings have in common. A drawing is as many pixels wide as its box, so that its text keeps the page's
// size.

const number = (x) => x === null || x === undefined ? "-"
  : (Math.abs(x) >= 1000 ? Math.round(x) : +x.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 12 });

function drawn(name, attributes = {}, text = "") {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text) node.textContent = text;
  return node;
}

function made(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const smallText = () => parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--small"));

const textWidth = (() => {
  const canvas = document.createElement("canvas").getContext("2d");
  return (text) => {
    canvas.font = `${smallText()}px system-ui, "DejaVu Sans", sans-serif`;
    return canvas.measureText(text).width;
  };
})();

// Values to pixels.
function scaleOf(low, high, from, to, log) {
  const f = log ? Math.log : (x) => x, start = f(low), end = f(high);
  return (value) => from + (f(value) - start) / (end - start) * (to - from);
}

function logTicks(low, high) {
  const steps = Math.log10(high / low) > 3.5 ? [1] : [1, 2, 5], found = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); ++e) {
    // Not step * 10 ** e: 10 ** -2 is no exact hundredth, and would be written with all its digits.
    for (const step of steps) found.push(Number(`${step}e${e}`));
  }
  return found.filter((tick) => tick >= low && tick <= high);
}

function lineTicks(high) {
  const rough = high / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((each) => each * power >= rough) * power, found = [];
  for (let tick = 0; tick <= high; tick += step) found.push(+tick.toPrecision(6));
  return found;
}

// Places near the wanted ones, in the same order, no two closer than the gap: neighbours share their mean.
function spread(wanted, gap, low, high) {
  const sorted = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const centre = (run) => {
    const half = (run.length - 1) / 2 * gap;
    const mean = run.reduce((sum, i) => sum + wanted[i], 0) / run.length;
    return Math.max(low + half, Math.min(high - half, mean));
  };
  const runs = [];
  for (const i of sorted) {
    runs.push([i]);
    while (runs.length > 1) {
      const [before, last] = runs.slice(-2);
      if (centre(last) - centre(before) >= (last.length + before.length) / 2 * gap) break;
      runs.splice(-2, 2, [...before, ...last]);
    }
  }
  const places = [];
  for (const run of runs) run.forEach((i, k) => { places[i] = centre(run) + (k - (run.length - 1) / 2) * gap; });
  return places;
}

// Lines and numbers of both axes. box: left, top, right, bottom in pixels; x and y: scale, ticks, title; x.above: its
// numbers stand above a drawing that is higher than a screen.
function drawAxes(svg, box, x, y) {
  const small = smallText();
  const [row, title] = x.above ? [box.top - small * 0.6, box.top - small * 2.1]
    : [box.bottom + small * 1.5, box.bottom + small * 2.8];
  let free = -Infinity;
  for (const tick of x.ticks) {
    const at = x.scale(tick), half = textWidth(number(tick)) / 2;
    svg.append(drawn("line", { x1: at, x2: at, y1: box.top, y2: box.bottom, class: "grid" }));
    if (at - half < free) continue; // no room
    free = at + half + small * 0.6;
    svg.append(drawn("text", { x: at, y: row, "text-anchor": "middle" }, number(tick)));
  }
  free = Infinity;
  for (const tick of y.ticks) {
    const at = y.scale(tick);
    svg.append(drawn("line", { x1: box.left, x2: box.right, y1: at, y2: at, class: "grid" }));
    if (at > free) continue;
    free = at - small * 1.4;
    svg.append(drawn("text", { x: box.left - 6, y: at + small * 0.35, "text-anchor": "end" }, number(tick)));
  }
  if (y.title) svg.append(drawn("text", { x: 2, y: small * 1.1, class: "title" }, y.title));
  svg.append(drawn("text", { x: box.right, y: title, "text-anchor": "end", class: "title" }, x.title));
}

// Names right of the box, each as near to its line's end as there is room. ends: x, y, text, colour.
function labelEnds(svg, box, ends) {
  const small = smallText();
  const places = spread(ends.map((end) => end.y), small * 1.35, box.top + small / 2, box.bottom - small / 2);
  ends.forEach((end, i) => {
    const at = box.right + 14;
    const leader = { x1: end.x + 5, y1: end.y, x2: at - 3, y2: places[i] };
    svg.append(drawn("line", { ...leader, stroke: end.colour, class: "leader" }));
    const text = drawn("text", { x: at, y: places[i] + small * 0.35, class: "end" }, end.text);
    text.style.fill = end.colour;
    svg.append(text);
  });
}

const widest = (texts) => Math.max(0, ...texts.map(textWidth));

// The point that is nearest to a place, of a list of those with x and y.
function nearest(points, x, y) {
  let found = null, least = Infinity;
  for (const point of points) {
    const away = (point.x - x) ** 2 + (point.y - y) ** 2;
    if (away < least) [found, least] = [point, away];
  }
  return found;
}

// A pointer over a drawing, or a finger on it.
function onPoint(svg, tell) {
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    tell(event.clientX - box.left, event.clientY - box.top);
  };
  svg.addEventListener("pointermove", at);
  svg.addEventListener("pointerdown", at);
}

// Drawn again when its box or the theme changes.
function keepDrawn(draw) {
  let wait = 0;
  const soon = () => { cancelAnimationFrame(wait); wait = requestAnimationFrame(draw); };
  window.addEventListener("resize", soon);
  document.addEventListener("theme", soon);
  draw();
}

// A table that a click on a head, or Enter on it, sorts. head: names; rows: of cells, each [text, sorted by what]. Returns
// what puts other rows in.
function sortable(table, head, rows) {
  const line = made("tr"), body = made("tbody");
  const kindOf = (value) => typeof value === "string" ? { class: "text" } : {};
  const isOfNumbers = (i) => rows.some((row) => typeof row[i][1] === "number");
  let shown = rows, by = -1, down = false;
  const show = () => {
    const value = (row) => row[by][1];
    const sorted = by < 0 ? shown : [...shown].sort((a, b) => {
      const [x, y] = [value(a), value(b)], none = (each) => each === null || each === undefined;
      if (none(x) || none(y)) return none(x) - none(y); // at the end either way
      return (typeof x === "number" ? x - y : x.localeCompare(y, "en", { numeric: true })) * (down ? -1 : 1);
    });
    const cells = (row) => row.map(([text, value]) => made("td", kindOf(value), text));
    body.replaceChildren(...sorted.map((row) => made("tr", {}, ...cells(row))));
  };
  head.forEach((name, i) => {
    const button = made("button", { type: "button" }, name);
    const cell = made("th", { scope: "col", "aria-sort": "none", class: isOfNumbers(i) ? "" : "text" }, button);
    button.onclick = () => {
      const first = isOfNumbers(i); // which are looked through from the largest
      down = by === i ? !down : first;
      by = i;
      for (const other of line.children) other.setAttribute("aria-sort", "none");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      show();
    };
    line.append(cell);
  });
  table.replaceChildren(made("thead", {}, line), body);
  show();
  return (others) => { shown = others; show(); };
}
