// A rung beside its base. The address has the rung (#sgemm/04): whatever goes to another changes the address alone.
(() => {
  const { ladders, files, figures } = window.DATA;
  const CONTEXT = 3;  // lines that stay unfolded beside a hunk
  const FEWEST = 3;  // lines that are worth a fold
  const narrow = matchMedia("(max-width: 800px)");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const bar = document.querySelector(".bar"), steps = document.getElementById("steps"), main = document.getElementById("rung");
  const places = ladders.flatMap((ladder) => ladder.rungs.map((rung, at) => ({ ladder, rung, at })));
  const spans = new Map();  // highlighted lines, by file

  const kept = (name) => { try { return localStorage.getItem("stepper." + name); } catch { return null; } };
  const keep = (name, value) => { try { localStorage.setItem("stepper." + name, value); } catch { /* a file may not */ } };
  const state = {
    // On a wall and on a phone the code comes first.
    notes: kept("notes") ? kept("notes") === "yes"
      : document.documentElement.dataset.theme !== "projector" && !narrow.matches,
    unified: kept("unified") === "yes",
    hunk: -1,  // none yet
    place: null,
  };

  const make = (tag, name, ...children) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    node.append(...children);
    return node;
  };
  const button = (id, text, title, act) => {
    const node = make("button", "", text);
    Object.assign(node, { id, title, type: "button" });
    node.onclick = (event) => {
      if (event.detail) node.blur();  // clicked: space is to go to the next change, not to click again
      act();
    };
    return node;
  };

  // ---- code

  const linesOf = (file) => {
    if (!spans.has(file)) spans.set(file, highlight(files[file].lines));
    return spans.get(file);
  };

  // A line's parts, cut where marks begin and end. Long lines go on below, two columns further in; spaces that only bring
  // comments below each other would make more lines long.
  const code = (file, at, marks, name) => {
    const text = files[file].lines[at];
    const node = make("code", name);
    node.style.setProperty("--in", text.length - text.trimStart().length + 2);
    const cuts = marks.flat();
    let column = 0;
    for (const [part, kind] of linesOf(file)[at]) {
      const end = column + part.length;
      const stops = [column, ...cuts.filter((cut) => cut > column && cut < end), end];
      for (let i = 0; i + 1 < stops.length; ++i) {
        const marked = marks.some(([from, to]) => from <= stops[i] && stops[i] < to);
        const piece = text.slice(stops[i], stops[i + 1]).replace(/(?<=\S) {3,}$/, "  ");
        node.append(kind || marked ? make(marked ? "mark" : "span", kind, piece) : piece);
      }
      column = end;
    }
    return node;
  };
  const number = (file, at, sign) => make("span", "no" + (sign === "+" ? " new" : sign ? " old" : ""),
    String(files[file].first + at) + (sign || " "));
  const nothing = () => make("span", "none");

  const sideBySide = (rung, [old, at, oldMarks, newMarks]) => {
    const changed = oldMarks !== undefined;
    const half = (file, line, marks, name, sign) => line < 0 ? [nothing(), nothing()]
      : [number(file, line, changed && sign), code(file, line, changed ? marks : [], changed ? name : "")];
    return [make("div", "row", ...half(rung.baseFile, old, oldMarks, "old", "−"), ...half(rung.file, at, newMarks, "new", "+"))];
  };
  const oneColumn = (file, line, marks, name, sign) =>
    make("div", "row", number(file, line, sign), code(file, line, marks, name));

  // Of neighbours that changed, first the old lines, then the new ones, as `diff -u` has them.
  const unified = (rung, rows) => {
    const found = [];
    let added = [];
    const flush = () => { found.push(...added); added = []; };
    for (const [old, at, oldMarks, newMarks] of rows) {
      if (oldMarks === undefined) {
        flush();
        found.push(oneColumn(rung.file, at, [], "", ""));
        continue;
      }
      if (old >= 0) found.push(oneColumn(rung.baseFile, old, oldMarks, "old", "−"));
      if (at >= 0) added.push(oneColumn(rung.file, at, newMarks, "new", "+"));
    }
    flush();
    return found;
  };
  const isUnified = () => state.unified || narrow.matches;
  const rowsOf = (rung, rows) => isUnified() ? unified(rung, rows) : rows.flatMap((row) => sideBySide(rung, row));

  const fold = (rung, rows) => {
    const count = rows.length;
    const node = make("button", "fold", `… ${count} lines …`);
    node.type = "button";
    node.title = "show them";
    node.onclick = () => {
      const shown = rowsOf(rung, rows);
      node.replaceWith(...shown);
      if (shown[0]) { shown[0].tabIndex = -1; shown[0].focus({ preventScroll: true }); }
    };
    return node;
  };

  // What lies between two hunks, folded but for the lines next to them.
  const between = (rung, rows, isFirst, isLast) => {
    const head = isFirst ? 0 : CONTEXT, tail = isLast ? 0 : CONTEXT;
    const hidden = rows.slice(head, Math.max(head, rows.length - tail));
    if (hidden.length < FEWEST) return rowsOf(rung, rows);
    return [...rowsOf(rung, rows.slice(0, head)), fold(rung, hidden),
      ...(tail ? rowsOf(rung, rows.slice(-tail)) : [])];
  };

  const change = (rung) => {
    const body = make("div", "code " + (isUnified() ? "unified" : "pair"));
    let hunk = 0;
    rung.sections.forEach(([isHunk, rows], i) => {
      if (!isHunk) {
        body.append(...between(rung, rows, i === 0, i === rung.sections.length - 1));
        return;
      }
      const node = make("div", "hunk", ...rowsOf(rung, rows));
      node.dataset.hunk = hunk++;
      body.append(node);
    });
    return body;
  };
  const whole = (file, name, sign) => make("div", "code unified",
    ...files[file].lines.map((_, at) => oneColumn(file, at, [], name, sign)));

  const header = ([sign, file, count]) => {
    const summary = make("summary", "", `${sign} ${file}`, make("span", "soft", ` ${count} lines of code`));
    const node = make("details", "header", summary);
    node.ontoggle = () => {
      if (node.open && node.children.length === 1) node.append(whole(file, sign === "+" ? "new" : "old", sign));
    };
    return node;
  };

  // ---- the parts of a rung

  const titleOf = (id) => {
    const found = places.find((place) => place.rung.id === id);
    return found ? found.rung.title : id.split("/")[1];
  };
  const shortOf = (id) => id.split("/")[1];

  const facts = (rung) => {
    const names = ["", rung.base ? shortOf(rung.base) : "", shortOf(rung.id), rung.base ? "change" : ""];
    const table = make("div", "facts" + (rung.base ? "" : " alone"));
    table.setAttribute("role", "table");
    table.setAttribute("aria-label", "counts and speeds");
    [names, ...rung.facts.rows].forEach((cells, i) => {
      const row = make("div", "fact" + (i ? "" : " names"));
      row.setAttribute("role", "row");
      cells.forEach((text, j) => {
        if (!rung.base && (j === 1 || j === 3)) return;
        const cell = make("span", j ? "" : "name", text);
        cell.setAttribute("role", !i ? "columnheader" : j ? "cell" : "rowheader");
        row.append(cell);
      });
      table.append(row);
    });
    return table;
  };

  const notes = (rung) => {
    const node = make("section", "notes");
    node.id = "notes";
    node.hidden = !state.notes;
    const list = make("dl");
    for (const [label, text] of rung.notes) list.append(make("dt", "", label), make("dd", "", text));
    if (rung.page) list.append(make("dt", "", "Page"), make("dd", "", rung.page));
    node.append(list);
    const figure = rung.figure && figures[rung.figure];
    if (figure) {
      const image = document.createElement("img");
      image.alt = figure.alt;
      image.style.setProperty("--width", figure.width);
      image.src = "data:image/svg+xml," + encodeURIComponent(figure.svg);
      node.append(make("figure", "", image, make("figcaption", "soft", figure.alt)));
    }
    return node;
  };

  const fileNames = (rung) => {
    const name = (file) => make("span", "", file);
    return make("div", "files" + (rung.base && !isUnified() ? " pair" : ""),
      ...(rung.base ? [name("− " + rung.baseFile), name("+ " + rung.file)] : [name(rung.file)]));
  };

  const render = () => {
    const { rung } = state.place;
    const since = rung.base
      ? `since ${titleOf(rung.base)}: ${rung.changed} ${rung.changed === 1 ? "line" : "lines"} of code changed`
      : "it changes no other stage";
    main.replaceChildren(
      make("h2", "", rung.title, make("span", "soft since", since)),
      make("p", "idea", rung.idea),
      ...(rung.facts.rows.length ? [facts(rung)] : []), make("p", "soft from", rung.facts.from.join(" ")),
      notes(rung),
      fileNames(rung), rung.base ? change(rung) : whole(rung.file, "", ""),
      ...(rung.headers || []).map(header),
      make("p", "soft keys", "Keys: ← → the rung before or behind · Home, End the first or last · space, n or Page Down the next "
        + "change · p or Page Up the one before · l lecture notes · u one column · f unfold everything"),
    );
    show();
  };

  // ---- going about

  const hunks = () => [...main.querySelectorAll(".hunk")];
  const show = () => {
    const all = hunks();
    all.forEach((node, i) => node.classList.toggle("lit", i === state.hunk));
    next.textContent = all.length ? `change ${state.hunk + 1}/${all.length}` : "no change";
    const { ladder, at } = state.place;
    before.disabled = at === 0;
    behind.disabled = at === ladder.rungs.length - 1;
    lecture.setAttribute("aria-pressed", state.notes);
    columns.setAttribute("aria-pressed", state.unified);
  };
  const top = () => bar.getBoundingClientRect().height * (getComputedStyle(bar).position === "sticky")
    + (main.querySelector(".files") ? main.querySelector(".files").getBoundingClientRect().height : 0);
  const glide = (y) => window.scrollTo({ top: y, behavior: still.matches ? "auto" : "smooth" });

  const light = (hunk) => {
    state.hunk = hunk;
    show();
    const node = hunks()[hunk];
    if (!node) { glide(0); return; }
    // Two lines before it stay in sight.
    glide(scrollY + node.getBoundingClientRect().top - top() - 2 * parseFloat(getComputedStyle(node).lineHeight));
  };
  // A hunk that is longer than the screen is read to its end first.
  const hiddenBelow = () => {
    const node = hunks()[state.hunk];
    return node ? node.getBoundingClientRect().bottom - (innerHeight - bottom()) : 0;
  };
  const bottom = () => getComputedStyle(steps).position === "fixed" ? steps.getBoundingClientRect().height : 0;
  const forward = () => {
    if (hiddenBelow() > 4) {
      glide(scrollY + Math.min(hiddenBelow() + 8, (innerHeight - top() - bottom()) * 0.8));
    } else if (state.hunk + 1 < hunks().length) light(state.hunk + 1);
    else go(state.place.at + 1);
  };
  const back = () => {
    if (state.hunk >= 0) light(state.hunk - 1);
    else go(state.place.at - 1);
  };

  const address = (rung) => { location.hash = rung.id; };
  const go = (at) => {
    const { rungs } = state.place.ladder;
    address(rungs[Math.max(0, Math.min(rungs.length - 1, at))]);
  };
  const toggle = (name) => {
    state[name] = !state[name];
    keep(name, state[name] ? "yes" : "no");
    render();
  };
  const unfold = () => {
    for (const node of main.querySelectorAll(".fold")) node.onclick();
  };

  // ---- the bar

  const choice = (id, label, options, act) => {
    const node = document.createElement("select");
    node.id = id;
    node.setAttribute("aria-label", label);
    node.append(...options.map(([value, text]) => new Option(text, value)));
    node.onchange = () => { act(node.value); node.blur(); };  // so that arrows go from rung to rung again
    return node;
  };
  const ladderChoice = choice("ladder", "ladder", ladders.map((ladder) => [ladder.id, ladder.title]),
    (id) => address(ladders.find((ladder) => ladder.id === id).rungs[0]));
  const rungChoice = choice("rungs", "rung", [], (id) => { location.hash = id; });
  const before = button("before", "◀", "the rung before (left)", () => go(state.place.at - 1));
  const behind = button("behind", "▶", "the next rung (right)", () => go(state.place.at + 1));
  const next = button("next", "", "the next change (space or n)", () => forward());
  next.setAttribute("aria-live", "polite");
  const lecture = button("lecture", "notes", "lecture notes and the figure (l)", () => toggle("notes"));
  const columns = button("columns", "one column", "old lines above new ones (u)", () => toggle("unified"));
  steps.append(before, rungChoice, behind, next);
  document.getElementById("choices").append(ladderChoice, lecture, columns);
  ladderChoice.hidden = ladders.length < 2;
  for (const node of [before, rungChoice, behind]) node.hidden = places.length < 2;

  const arrive = () => {
    const wanted = decodeURIComponent(location.hash.slice(1));
    state.place = places.find((place) => place.rung.id === wanted) || state.place || places[0];
    const { ladder, rung } = state.place;
    state.hunk = -1;
    ladderChoice.value = ladder.id;
    rungChoice.replaceChildren(...ladder.rungs.map((each) => new Option(each.title, each.id)));
    rungChoice.value = rung.id;
    document.title = `${rung.title} · ${ladder.title}`;
    render();
    window.scrollTo(0, 0);
  };

  const keys = {
    ArrowLeft: () => go(state.place.at - 1), ArrowRight: () => go(state.place.at + 1),
    Home: () => go(0), End: () => go(Infinity),
    " ": forward, n: forward, PageDown: forward, p: back, PageUp: back,
    l: () => toggle("notes"), u: () => toggle("unified"), f: unfold,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const on = event.target.closest("select, input, textarea, button, summary");
    if (on && (on.matches("select, input, textarea") || event.key === " ")) return;
    const act = event.key === " " && event.shiftKey ? back : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  const measure = () => document.documentElement.style.setProperty("--bar",
    `${getComputedStyle(bar).position === "sticky" ? bar.getBoundingClientRect().height : 0}px`);
  new ResizeObserver(measure).observe(bar);
  narrow.addEventListener("change", () => render());
  addEventListener("hashchange", arrive);
  arrive();
})();
