// The viewer of a trace (docs/concepts/output.md, "The JSON of a trace"). Costs are shown as they were counted; all that is
// worked out here is where an address lies.
(() => {
  const trace = window.DATA;
  const at = (id) => document.getElementById(id);
  const field = Object.fromEntries(trace.fields.map((name, i) => [name, i]));
  const LINE = 128, WORD = 4, SECTOR = 32, ROW_WORDS = LINE / WORD;
  const MOST = 256, PAGE = 128; // rows or columns that are drawn at once, else a page of them
  const LONGEST = 11; // letters of an element's name, with which three lanes stand side by side on a projector
  const MANY = 6; // drawings of objects, from which on all of them are narrow on a projector
  const isProjector = () => document.documentElement.dataset.theme === "projector";

  // ---- the trace, unpacked

  // Lanes of a shape: their numbers, offsets, wavefronts and turns.
  const shapes = trace.shapes.map((shape) => {
    const numbers = Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => (shape.mask >>> lane) & 1);
    return numbers.map((lane, i) => ({
      lane, offset: shape.offsets[i], wavefront: shape.wavefront[i], turn: shape.turn[i],
      object: shape.objects ? shape.objects[i] : null,
    }));
  });
  const requests = trace.requests.map((row, index) => {
    const get = (name) => row[field[name]];
    const site = trace.sites[get("site")];
    return {
      index, block: get("block"), warp: get("warp"), barriers: get("barriers"), site, object: get("object"), base: get("base"),
      lanes: shapes[get("shape")], sectors: get("sectors"), lines: get("lines"), wavefronts: get("wavefronts"),
      conflicts: get("conflicts"), source: get("source"), shared: site.space === "shared", writes: site.access !== "load",
    };
  });
  const offsetOf = (request, lane) => request.base + lane.offset;

  // The line that is lit, which trace.py chooses.
  const lineOf = (site) => site.lines[site.shown];

  // ---- what lies where

  // What is shown: each object, and of an array that holds several tiles each part of it. Offsets are the whole array's.
  const shown = trace.objects.flatMap((object, whole) => (object.parts || [{ offset: 0, bytes: object.bytes, filled: "" }])
    .map((part) => ({ ...object, whole, first: part.offset, bytes: part.bytes, filled: part.filled, many: (object.parts || []).length > 1 })));
  // As cells of so many bytes, in rows.
  const objects = shown.map((object, number) => {
    if (object.kind === "matrix") {
      return { ...object, number, cell: object.element_bytes, cols: object.cols, stride: object.ld, count: object.rows };
    }
    if (object.dimensions) {
      const last = object.dimensions[object.dimensions.length - 1], flat = object.dimensions.length === 1;
      // Flat, or too wide for a drawing: a row of banks in each.
      const cols = object.row || (flat || last > MOST ? LINE / object.element_bytes : last);
      const count = Math.ceil(object.dimensions.reduce((a, b) => a * b, 1) / cols);
      return { ...object, number, cell: object.element_bytes, cols, stride: cols, count };
    }
    // Nobody told its shape: rows of 32 words, one for each bank.
    return { ...object, number, cell: WORD, cols: ROW_WORDS, stride: ROW_WORDS, count: Math.ceil(object.bytes / LINE) };
  });
  const partsOf = trace.objects.map((_, whole) => objects.filter((object) => object.whole === whole));
  const objectOf = (request, lane) => {
    const parts = partsOf[lane.object === null ? request.object : lane.object];
    if (parts.length === 1) return parts[0].number;
    const offset = offsetOf(request, lane);
    return (parts.find((part) => offset < part.first + part.bytes) || parts[parts.length - 1]).number;
  };
  const span = (first, count) => (count > 1 ? `${first}..${first + count - 1}` : `${first}`);
  // Of its first element, for an access of several.
  const nameOf = (number, offset) => {
    const object = objects[number], element = Math.floor(offset / object.cell);
    if (object.kind === "matrix") return `${object.name}(${Math.floor(element / object.stride)}, ${element % object.stride})`;
    if (!object.dimensions) return `${object.name}+${offset}`;
    const indices = [];
    let rest = element;
    for (const dimension of object.dimensions.slice().reverse()) {
      indices.unshift(`[${rest % dimension}]`);
      rest = Math.floor(rest / dimension);
    }
    return object.name + indices.join("");
  };

  // ---- the choice

  const state = { block: 0, warp: "0", step: 0, page: 0, timer: null };
  let chosen = []; // requests of the block and warp
  const current = () => chosen[state.step];
  const fill = (select, entries) => {
    select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  };
  const place = (index) => {
    const [x, y] = trace.grid;
    return y * trace.grid[2] > 1 ? `(${index % x}, ${Math.floor(index / x) % y}, ${Math.floor(index / x / y)})` : `${index}`;
  };
  const choose = (step = 0) => {
    const all = state.warp === "all";
    chosen = requests.filter((r) => r.block === state.block && (all || r.warp === Number(state.warp)));
    at("position").max = Math.max(0, chosen.length - 1);
    go(step);
  };
  const chooseBlock = (block) => {
    state.block = block;
    const warps = [...new Set(requests.filter((r) => r.block === block).map((r) => r.warp))].sort((a, b) => a - b);
    fill(at("warp"), [...warps.map((warp) => [`${warp}`, `${warp}`]), ["all", "all"]]);
    if (state.warp !== "all" && !warps.includes(Number(state.warp))) state.warp = warps.length ? `${warps[0]}` : "all";
    at("warp").value = state.warp;
    choose();
  };
  const go = (step) => {
    state.step = Math.max(0, Math.min(chosen.length - 1, step));
    state.remark = "";
    show();
  };

  // ---- play, pause, jump

  const pause = () => {
    clearInterval(state.timer);
    state.timer = null;
    at("play").textContent = "play";
  };
  const play = () => {
    pause();
    if (state.step === chosen.length - 1) go(0);
    state.timer = setInterval(() => (state.step < chosen.length - 1 ? go(state.step + 1) : pause()), 1000 / at("speed").value);
    at("play").textContent = "pause";
  };
  const toggle = () => (state.timer ? pause() : play());
  // Bank conflicts of shared memory; where there is none of it, of the L1 cache, which has the same banks.
  const usesShared = requests.some((r) => r.shared);
  const isConflict = (request) => request.conflicts > 0 && (request.shared || !usesShared);
  const jump = (wanted, what) => {
    pause();
    for (let step = state.step + 1; step < chosen.length; ++step) {
      if (wanted(chosen[step])) return go(step);
    }
    state.remark = `No ${what} follows in this warp's steps.`;
    show();
  };
  const sameLine = (one, other) => one && other && one.file === other.file && one.line === other.line;
  const nextConflict = () => jump(isConflict, "conflict");
  const nextLine = () => {
    const here = current() && lineOf(current().site);
    jump((request) => !sameLine(lineOf(request.site), here), "other line");
  };

  // ---- the source

  const showSource = (request) => {
    const box = at("source"), line = request && lineOf(request.site);
    const file = line && trace.sources[line.file] !== undefined ? line.file : trace.file;
    if (box.dataset.file !== file) {
      box.dataset.file = file;
      const text = trace.sources[file];
      box.replaceChildren(...(text === undefined ? [`no source: ${file}`] : text.split("\n").map((code, i) => {
        const row = document.createElement("div");
        row.dataset.n = i + 1;
        row.textContent = code || " ";
        if (/^\s*\/\//.test(code)) row.className = "remark";
        return row;
      })));
    }
    for (const row of box.querySelectorAll(".lit, .caller")) row.classList.remove("lit", "caller");
    at("inlined").replaceChildren();
    if (!request || box.firstElementChild === null) return;
    const row = (number) => box.children[number - 1];
    for (const other of request.site.lines) {
      if (other.file === file && row(other.line)) row(other.line).classList.add("caller");
    }
    if (line.file === file && row(line.line)) {
      row(line.line).classList.remove("caller");
      row(line.line).classList.add("lit");
      const top = row(line.line).offsetTop, height = row(line.line).offsetHeight;
      // Only where it is out of sight: the eye stays on the page.
      if (top < box.scrollTop + 20 || top + height > box.scrollTop + box.clientHeight - 20) {
        box.scrollTop = top - box.clientHeight * 0.4;
      }
    }
    const inner = request.site.lines[0];
    if (!sameLine(inner, line)) {
      const code = ((trace.sources[inner.file] || "").split("\n")[inner.line - 1] || "").trim();
      at("inlined").textContent = `in ${inner.file}:${inner.line}: ${code}`;
    }
  };

  // ---- words

  const counted = (count, one, many = one + "s") => `${count} ${count === 1 ? one : many}`;
  const verb = (site) => (site.async ? (site.space === "shared" ? "receives an asynchronous copy in" : "begins an asynchronous copy from")
    : { load: "loads from", store: "stores to", atomic: "updates" }[site.access]);
  const costText = (request) => {
    const wavefronts = counted(request.wavefronts, "wavefront");
    if (request.shared) {
      return wavefronts + (request.conflicts ? `, <b class="conflict">${request.conflicts} by bank conflicts</b>` : "");
    }
    const more = request.conflicts ? `, ${request.conflicts} of them avoidable` : "";
    return `${counted(request.sectors, "sector")} in ${counted(request.lines, "line")}; if L1 hits, ${wavefronts}${more}`;
  };
  // Of a load from shared memory, what wrote its first word.
  const filledText = (request, past) => {
    if (!request.shared || request.writes) return "";
    const lane = request.lanes[0], object = objects[objectOf(request, lane)];
    const cell = cellOf(object, areaOf(object), Math.floor(offsetOf(request, lane) / object.cell));
    const by = cell < 0 ? undefined : requests[past[object.number].by[cell]];
    return by ? ` Filled ${by.source < 0 ? "" : `from ${trace.objects[by.source].name} `}by line ${lineOf(by.site).line}.` : "";
  };
  const nowText = (request, past) => {
    if (!request) return "No access of this warp is in the trace.";
    const names = [...new Set(request.lanes.map((lane) => objects[objectOf(request, lane)].name))].join(" and ");
    return `<b>Step ${state.step + 1} of ${chosen.length}</b>: warp ${request.warp} ${verb(request.site)} <b>${names}</b>, ` +
      `${request.lanes.length} x ${counted(request.site.bytes, "byte")}: ${costText(request)}.` +
      `${filledText(request, past)} ` +
      `Barriers before: ${request.barriers}.` + (state.remark ? ` <i>${state.remark}</i>` : "");
  };

  // ---- the lanes

  // Of each lane, which of the touched sectors its first byte lies in.
  const sectorsOf = (request) => {
    const numbers = new Map(), found = new Map();
    for (const lane of request.lanes) {
      const number = objectOf(request, lane);
      const key = `${number} ${Math.floor((objects[number].in_line + offsetOf(request, lane)) / SECTOR)}`;
      if (!numbers.has(key)) numbers.set(key, numbers.size);
      found.set(lane, numbers.get(key));
    }
    return found;
  };
  let withoutObject = false; // the sentence above the lanes names it
  const laneName = (request, lane) => {
    const number = objectOf(request, lane), name = nameOf(number, offsetOf(request, lane));
    return withoutObject && lane.object === null ? name.slice(objects[number].name.length) : name;
  };
  const laneCell = (lane, request, sectors) => {
    const cell = document.createElement("div"), part = (name, text) => {
      const span = document.createElement("span");
      span.className = name;
      span.textContent = text;
      return span;
    };
    cell.className = "lane";
    if (!request) {
      cell.append(part("n", lane), part("a", "-"));
      return cell;
    }
    const number = objectOf(request, lane), offset = offsetOf(request, lane);
    const group = request.shared ? lane.wavefront : sectors.get(lane);
    cell.classList.add(request.shared && lane.turn ? "conflict" : group % 2 ? "odd" : "even");
    const shown = request.shared ? (request.wavefronts > 1 ? `w${group}` : "") : `s${group}`;
    cell.append(part("n", lane.lane), part("a", laneName(request, lane)), part("w", shown));
    const bank = Math.floor((objects[number].in_line + offset) / WORD) % ROW_WORDS;
    cell.title = request.shared ? `bank ${bank}, wavefront ${lane.wavefront}` : `sector ${group} of this access`;
    return cell;
  };
  const showLanes = (request) => {
    const by = new Map(request ? request.lanes.map((lane) => [lane.lane, lane]) : []);
    const sectors = request && !request.shared ? sectorsOf(request) : null;
    at("lanes").replaceChildren(...Array.from({ length: 32 }, (_, lane) =>
      by.has(lane) ? laneCell(by.get(lane), request, sectors) : laneCell(lane, null, null)));
  };
  // As wide as the longest name in the trace, so that nothing moves from step to step.
  const longestName = () => {
    let longest = 8;
    for (const request of requests) {
      for (const lane of [request.lanes[0], request.lanes[request.lanes.length - 1]]) {
        longest = Math.max(longest, laneName(request, lane).length);
      }
    }
    return longest;
  };
  const setCellWidth = () => {
    withoutObject = false;
    withoutObject = isProjector() && longestName() > LONGEST;
    at("lanes").style.setProperty("--cell", `calc(${longestName() + 7}ch)`);
  };

  // ---- drawings

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const canvasOf = (figure, width, height) => {
    const canvas = figure.querySelector("canvas"), scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.fillStyle = colour("--back");
    pen.fillRect(0, 0, width, height);
    return pen;
  };
  const newFigure = (id) => {
    const figure = document.createElement("figure");
    figure.id = id;
    figure.append(document.createElement("figcaption"), document.createElement("canvas"));
    at("figures").append(figure);
    return figure;
  };
  // How large a drawing is: all of them fit a projector beside its large letters, and two stand side by side on a phone.
  const isPhone = () => window.innerWidth < 500;
  const tall = () => {
    if (isPhone() || (window.innerHeight < 800 && isProjector())) return 115;
    return window.innerHeight < 800 ? 150 : 220;
  };
  const wide = () => {
    if (isPhone()) return 150;
    return Math.max(90, Math.min(230, (at("figures").clientWidth - costWidth() - 6) / objects.filter(isTouched).length - 20));
  };

  const costWidth = () => (isPhone() || (isProjector() && at("figures").classList.contains("many")) ? 160 : 256);

  // Rows: wavefronts of shared memory, or lines of global memory; columns: their 32 words.
  const costFigure = newFigure("cost");
  const showCost = (request) => {
    const width = costWidth(), column = width / ROW_WORDS;
    const rows = new Map(); // row: its words, each with what is drawn
    const put = (row, word, kind) => {
      if (!rows.has(row)) rows.set(row, new Map());
      rows.get(row).set(word, kind);
    };
    for (const lane of request ? request.lanes : []) {
      const from = objects[objectOf(request, lane)].in_line + offsetOf(request, lane);
      for (let byte = from; byte < from + request.site.bytes; byte += Math.min(WORD, request.site.bytes)) {
        const word = Math.floor(byte / WORD) % ROW_WORDS;
        if (request.shared) put(lane.wavefront, word, lane.turn ? "--c7" : "--c1");
        else put(Math.floor(byte / LINE) + objectOf(request, lane) * 2 ** 40, word, "--c1");
      }
    }
    const order = [...rows.keys()].sort((a, b) => a - b);
    const height = Math.max(1, order.length), step = Math.min(10, tall() / height), pen = canvasOf(costFigure, width, height * step);
    order.forEach((key, y) => {
      for (const [word, kind] of rows.get(key)) {
        if (!request.shared) { // a sector is fetched whole
          pen.globalAlpha = 0.3;
          pen.fillStyle = colour("--c2");
          pen.fillRect(Math.floor(word / 8) * 8 * column, y * step, 8 * column, step - (step > 3 ? 1 : 0));
          pen.globalAlpha = 1;
        }
      }
      for (const [word, kind] of rows.get(key)) {
        pen.fillStyle = colour(kind);
        pen.fillRect(word * column, y * step, column - 1, step - (step > 3 ? 1 : 0));
      }
    });
    costFigure.dataset.rows = order.length;
    costFigure.firstChild.textContent = !request ? "" : request.shared
      ? `${counted(order.length, "wavefront")} x 32 banks` : `${counted(order.length, "line")} x 4 sectors`;
  };

  // The part of each object that the block touches: rows and columns from, to. A shared array is shown whole.
  const limits = (object) => {
    let top = Infinity, left = Infinity, bottom = 0, right = 0, seen = null;
    for (const request of requests) {
      if (request.block !== state.block) continue;
      for (const lane of request.lanes) {
        if (objectOf(request, lane) !== object.number) continue;
        if (object.many && !object.filled && request.writes) continue; // zeros, which nobody may ever read
        const element = Math.floor(offsetOf(request, lane) / object.cell), row = Math.floor(element / object.stride);
        const col = element % object.stride;
        seen = seen || { top: row, left: col };
        top = Math.min(top, row);
        bottom = Math.max(bottom, row);
        left = Math.min(left, col);
        right = Math.max(right, col + Math.max(1, request.site.bytes / object.cell) - 1);
      }
    }
    if (object.kind === "shared" && (Number.isFinite(top) || !object.many)) {
      const row = object.stride * object.cell, from = Math.floor(object.first / row);
      return { top: from, left: 0, rows: Math.ceil((object.first + object.bytes) / row) - from, cols: object.cols,
        seen: seen || { top: from, left: 0 } };
    }
    return { top, left, rows: bottom - top + 1, cols: right - left + 1, seen };
  };
  const areas = new Map(); // of the block
  const areaOf = (object) => {
    const key = `${state.block} ${object.number}`;
    if (!areas.has(key)) areas.set(key, limits(object));
    return areas.get(key);
  };
  const isTouched = (object) => {
    const { top, rows, cols } = areaOf(object);
    return Number.isFinite(top) && rows * cols > 0;
  };

  // What the block has done to each object until now, cell by cell of its area: after how many barriers it was written and
  // read last (-1: never), and by which request written. A warp sees what was done before the last barrier, and what it did
  // itself.
  const noCells = () => objects.map((object) => {
    const area = areaOf(object), size = isTouched(object) ? area.rows * area.cols : 0;
    return { written: new Int32Array(size).fill(-1), read: new Int32Array(size).fill(-1), by: new Int32Array(size).fill(-1) };
  });
  const cellOf = (object, area, key) => {
    const row = Math.floor(key / object.stride) - area.top, col = (key % object.stride) - area.left;
    return row >= 0 && row < area.rows && col >= 0 && col < area.cols ? row * area.cols + col : -1;
  };
  const apply = (cells, past) => {
    for (const lane of past.lanes) {
      const number = objectOf(past, lane), object = objects[number], area = areaOf(object), known = cells[number];
      const first = offsetOf(past, lane);
      for (let byte = first; byte < first + past.site.bytes; byte += object.cell) {
        const cell = cellOf(object, area, Math.floor(byte / object.cell));
        if (cell < 0) continue;
        if (past.writes) {
          known.written[cell] = past.barriers;
          known.read[cell] = -1;
          known.by[cell] = past.index;
        } else {
          known.read[cell] = past.barriers;
        }
      }
    }
  };
  let done = null; // all that came before some barrier, kept for the steps after it
  const history = (request) => {
    if (!request) return noCells();
    const list = requests.filter((r) => r.block === request.block);
    if (!done || done.block !== request.block || done.barriers > request.barriers) {
      done = { block: request.block, barriers: 0, next: 0, cells: noCells() };
    }
    for (; done.next < list.length && list[done.next].barriers < request.barriers; ++done.next) apply(done.cells, list[done.next]);
    done.barriers = request.barriers;
    const cells = done.cells.map(({ written, read, by }) => ({ written: written.slice(), read: read.slice(), by: by.slice() }));
    for (let i = done.next; i < list.length && list[i].index <= request.index; ++i) {
      if (state.warp === "all" || list[i].warp === request.warp) apply(cells, list[i]);
    }
    return cells;
  };
  // How a cell is tinted. Strong: in a shared array what was written and not read before the last barrier; elsewhere what
  // was accessed since.
  const tint = (object, written, read, now) => {
    if (object.kind === "shared") return written < 0 ? 0 : read >= 0 && read < now ? 0.22 : 0.6;
    const last = Math.max(written, read);
    return last < 0 ? 0 : last === now ? 0.6 : 0.22;
  };

  // The page of this access; without one, where it was.
  const windowOf = (area, lit, axis, size) => {
    if (area[size] <= MOST) return [area[axis], area[size]];
    const first = area.seen[axis] = lit.length ? Math.min(...lit) : area.seen[axis], page = Math.floor((first - area[axis]) / PAGE) * PAGE;
    return [area[axis] + page, Math.min(PAGE, area[size] - page)];
  };
  const figures = objects.map((object) => newFigure(`object-${object.number}`));
  const order = { matrix: 0, memory: 1, shared: 2 };
  const arrange = () => {
    const places = objects.map((object) => [object.name === "C" ? 3 : order[object.kind], object.number]);
    places.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const [, number] of places) at("figures").append(figures[number]);
  };
  const showObject = (object, request, past) => {
    const figure = figures[object.number], area = areaOf(object);
    figure.hidden = !isTouched(object);
    if (figure.hidden) return;
    const lit = new Map(); // cell: its turn
    for (const lane of request ? request.lanes : []) {
      if (objectOf(request, lane) !== object.number) continue;
      const first = offsetOf(request, lane);
      for (let byte = first; byte < first + request.site.bytes; byte += object.cell) {
        lit.set(Math.floor(byte / object.cell), request.shared ? lane.turn : 0);
      }
    }
    const rowOf = (key) => Math.floor(key / object.stride), colOf = (key) => key % object.stride;
    const [top, rows] = windowOf(area, [...lit.keys()].map(rowOf), "top", "rows");
    const [left, cols] = windowOf(area, [...lit.keys()].map(colOf), "left", "cols");
    // Cells are squares, but of a flat or narrow array up to four times as high or wide.
    const square = Math.min(10, tall() / rows, wide() / cols), least = 70;
    const stretched = (count) => Math.max(square, Math.min(10, square * 4, least / count));
    const across = stretched(cols), down = stretched(rows);
    const pen = canvasOf(figure, Math.max(8, cols * across), Math.max(8, rows * down));
    const fillCells = (row, col, count, least, gap) => { // whole pixels: neighbours neither overlap nor leave a seam
      const x = Math.round((col - left) * across), y = Math.round((row - top) * down);
      const width = Math.round((col - left + count) * across) - x, height = Math.round((row - top + 1) * down) - y;
      pen.fillRect(x, y, Math.max(least, width - (gap && across > 4 ? 1 : 0)), Math.max(least, height - (gap && down > 4 ? 1 : 0)));
    };
    const { written, read } = past[object.number];
    let filled = 0;
    pen.fillStyle = colour("--c3");
    for (let row = top; row < top + rows; ++row) {
      // Cells of one tint side by side are one rectangle.
      for (let col = left, from = left, before = 0; col <= left + cols; ++col) {
        const cell = (row - area.top) * area.cols + col - area.left;
        const now = col < left + cols ? tint(object, written[cell], read[cell], request ? request.barriers : 0) : 0;
        filled += now > 0;
        if (now === before) continue;
        pen.globalAlpha = before;
        if (before > 0) fillCells(row, from, col - from, 0, false);
        from = col;
        before = now;
      }
    }
    pen.globalAlpha = 1;
    for (const [key, turn] of lit) {
      pen.fillStyle = colour(turn ? "--c7" : "--c1");
      const row = rowOf(key), col = colOf(key);
      if (row >= top && row < top + rows && col >= left && col < left + cols) fillCells(row, col, 1, 3, true);
    }
    figure.classList.toggle("current", lit.size > 0);
    figure.dataset.lit = lit.size;
    figure.dataset.filled = filled;
    figure.view = { top, left, across, down, area, past: past[object.number] };
    if (object.kind === "matrix") figure.caption = `${object.name}(${span(top, rows)}, ${span(left, cols)})`;
    else if (object.dimensions && !object.parts) figure.caption = object.name + object.dimensions.map((each) => `[${each}]`).join("");
    else figure.caption = partName(object, top * object.stride, rows * object.stride);
    figure.firstChild.textContent = figure.caption;
  };
  // The drawings of one page: with the whole page in sight they are one row. A step turns to the page of its access.
  const oneRow = matchMedia("(min-width: 900px) and (min-height: 600px)");
  const pagesOf = (all) => {
    const box = at("figures"), gap = parseFloat(getComputedStyle(box).columnGap), pages = [[]];
    let left = box.clientWidth - costFigure.offsetWidth;
    const room = left;
    for (const figure of all) {
      const width = figure.offsetWidth + gap;
      if (width > left && pages[pages.length - 1].length) {
        pages.push([]);
        left = room;
      }
      left -= width;
      pages[pages.length - 1].push(figure);
    }
    return pages;
  };
  const showPage = (turn) => {
    const all = [...at("figures").children].filter((figure) => figure !== costFigure && !figure.hidden);
    for (const figure of all) figure.classList.remove("elsewhere");
    const pages = oneRow.matches ? pagesOf(all) : [all];
    const lit = pages.findIndex((page) => page.some((figure) => figure.classList.contains("current")));
    state.page = (turn ? state.page + turn : lit < 0 ? Math.min(state.page, pages.length - 1) : lit) % pages.length;
    pages.forEach((page, i) => page.forEach((figure) => figure.classList.toggle("elsewhere", i !== state.page)));
    at("next-page").hidden = pages.length < 2;
    at("next-page").textContent = `drawings ${state.page + 1}/${pages.length}`;
  };
  // Of what is drawn of an array: from which of its cells on, and how many.
  const partName = ({ name, first, bytes, filled, dimensions, cell, many }, from, count) => {
    const begin = Math.max(first, from * cell), size = Math.min(first + bytes, (from + count) * cell) - begin;
    const range = (start, length) => (many ? `${start}..` : span(start, length)); // several stand side by side
    const where = dimensions ? `[${range(begin / cell, size / cell)}]` : `+${range(begin, size)}`;
    return `${name}${many ? "" : "\u200b"}${where}\n${filled}`.trim(); // a line may end before a long range
  };
  const pointAt = (object, figure) => (event) => {
    const { top, left, across, down, area, past } = figure.view;
    const box = event.target.getBoundingClientRect(), scale = box.width / parseFloat(event.target.style.width);
    const col = left + Math.floor((event.clientX - box.left) / scale / across);
    const row = top + Math.floor((event.clientY - box.top) / scale / down);
    const key = row * object.stride + col, cell = cellOf(object, area, key);
    if (cell < 0) return;
    const by = requests[past.by[cell]];
    figure.firstChild.textContent = nameOf(object.number, key * object.cell) +
      (by ? `: warp ${by.warp}, line ${lineOf(by.site).line}` : past.read[cell] >= 0 ? ": read" : "");
  };

  // ---- all of it

  const show = () => {
    const request = current();
    at("position").value = state.step;
    showSource(request);
    showLanes(request);
    showCost(request);
    const past = history(request);
    at("now").innerHTML = nowText(request, past);
    at("figures").classList.toggle("many", objects.filter(isTouched).length >= MANY);
    for (const object of objects) showObject(object, request, past);
    showPage(0);
    document.documentElement.dataset.step = state.step;
  };

  const notes = () => {
    const block = trace.blocks[state.block], kept = requests.filter((r) => r.block === state.block).length;
    const { m, n, k } = trace.problem;
    const key = (name, alpha, text) => `<span class="key" style="background:var(${name});opacity:${alpha}"></span> ${text}`;
    at("notes").innerHTML = [
      key("--c1", 1, "this access"), key("--c7", 1, "in an extra wavefront: bank conflict"),
      key("--c3", 0.6, "filled, or accessed since the last barrier"), key("--c3", 0.22, "earlier"),
      `${trace.stage}, M x N x K = ${m} x ${n} x ${k}, launch ${trace.launch} of ${trace.launches}` +
        (block && kept < block.requests ? `: the first ${kept} of the block's ${block.requests} accesses (--steps)` : ""),
      "s0, s1: sectors of this access; w0, w1: wavefronts",
      ...(objects.some((object) => object.parts || object.kind === "memory") ? ["an array without rows: 32 words, or banks, a row"] : []),
      "keys: &larr; &rarr; step, space plays, c next conflict, l next line, d more drawings, &uarr; &darr; warp",
    ].join(" &nbsp; ");
    for (const text of [...(trace.defects || []), ...(trace.warnings || [])]) {
      const line = document.createElement("div");
      line.className = "defect";
      line.textContent = text;
      at("notes").prepend(line);
    }
  };

  const otherWarp = (by) => {
    const select = at("warp"), index = Math.max(0, Math.min(select.options.length - 1, select.selectedIndex + by));
    select.selectedIndex = index;
    state.warp = select.value;
    choose(state.step);
  };
  const keys = {
    ArrowRight: () => { pause(); go(state.step + 1); }, ArrowLeft: () => { pause(); go(state.step - 1); },
    Home: () => { pause(); go(0); }, End: () => { pause(); go(chosen.length - 1); },
    ArrowUp: () => otherWarp(-1), ArrowDown: () => otherWarp(1), " ": toggle, c: nextConflict, l: nextLine,
    d: () => showPage(1),
  };
  document.addEventListener("keydown", (event) => {
    const { tagName } = event.target;
    if (event.ctrlKey || event.altKey || event.metaKey || tagName === "SELECT") return;
    if (tagName === "BUTTON" && event.key === " ") return; // it is pressed
    if (tagName === "INPUT" && !["c", "d", "l", " "].includes(event.key)) return; // the slider's own
    if (event.target.id === "source" && event.key.startsWith("ArrowU") + event.key.startsWith("ArrowD")) return; // scrolls
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  at("back").onclick = keys.ArrowLeft;
  at("forward").onclick = keys.ArrowRight;
  at("play").onclick = toggle;
  at("next-conflict").onclick = nextConflict;
  at("next-line").onclick = nextLine;
  at("next-page").onclick = keys.d;
  at("position").oninput = () => { pause(); go(Number(at("position").value)); };
  at("warp").onchange = () => { pause(); state.warp = at("warp").value; choose(state.step); };
  at("block").onchange = () => { pause(); chooseBlock(Number(at("block").value)); notes(); };
  at("speed").onchange = () => { if (state.timer) play(); };
  objects.forEach((object, i) => {
    const canvas = figures[i].querySelector("canvas");
    canvas.onpointermove = pointAt(object, figures[i]);
    canvas.onpointerleave = () => { figures[i].firstChild.textContent = figures[i].caption; };
  });
  document.addEventListener("theme", () => { setCellWidth(); show(); });
  window.addEventListener("resize", () => show());

  fill(at("block"), trace.blocks.map((block, i) => [`${i}`, place(block.index)]));
  at("block-label").hidden = trace.blocks.length < 2;
  fill(at("speed"), ["1", "2", "5", "20", "60"].map((rate) => [rate, `${rate}/s`]));
  at("speed").value = "2";
  arrange();
  at("figures").classList.toggle("two-lines", objects.some((object) => object.filled));
  setCellWidth();
  chooseBlock(0);
  notes();
})();
