// Turns the slides. What a key means stands in KEYS; the number of a slide is the address's #, so that a page that is
// loaded again is where it was.
(() => {
  const slides = [...document.querySelectorAll(".slide")];
  const deck = document.getElementById("deck"), overview = document.getElementById("overview");
  const at = (id) => document.getElementById(id);
  let here = 0, typed = "";

  const steps = (slide) => [...slide.querySelectorAll(".step")];
  const place = () => {
    at("place").textContent = typed ? `go to ${typed} ⏎` : `${here + 1} / ${slides.length}`;
  };
  // From behind, a slide is seen whole: who goes back has asked its question already.
  const go = (to, whole = false) => {
    here = Math.max(0, Math.min(slides.length - 1, to));
    slides.forEach((slide, n) => slide.classList.toggle("here", n === here));
    steps(slides[here]).forEach((step) => step.classList.toggle("seen", whole));
    slides[here].scrollTop = 0;
    at("source").textContent = slides[here].dataset.source || "";
    at("progress").firstElementChild.style.width = `${(100 * here) / Math.max(1, slides.length - 1)}%`;
    history.replaceState(null, "", `#${here + 1}`);
    place();
  };
  const next = () => {
    const hidden = steps(slides[here]).find((step) => !step.classList.contains("seen"));
    if (hidden) {
      hidden.classList.add("seen");
      hidden.scrollIntoView({ block: "nearest" });
    } else if (here + 1 < slides.length) go(here + 1);
  };
  const back = () => {
    const seen = steps(slides[here]).filter((step) => step.classList.contains("seen")).pop();
    if (seen) seen.classList.remove("seen");
    else if (here) go(here - 1, true);
  };

  const show_all = (on) => {
    overview.hidden = !on;
    deck.hidden = on;
    if (!on) return;
    const buttons = [...overview.querySelectorAll("button")];
    buttons.forEach((button, n) => button.classList.toggle("here", n === here));
    buttons[here].focus();
  };
  const heading = (slide) => (slide.querySelector("h2 span") || slide.querySelector("h2")).textContent;
  const fill_overview = () => {
    let group = null, stage = null;
    slides.forEach((slide, n) => {
      if (!group || slide.dataset.stage !== stage) {
        stage = slide.dataset.stage;
        const head = document.createElement("h3");
        head.textContent = stage;
        group = document.createElement("div");
        overview.append(...(stage ? [head, group] : [group]));
      }
      const button = document.createElement("button");
      button.textContent = `${n + 1} ${heading(slide)}`;
      button.onclick = () => { show_all(false); go(n); };
      group.append(button);
    });
  };
  // In the overview arrow keys go from button to button, and Enter presses the one that is reached.
  const move_focus = (by) => {
    const buttons = [...overview.querySelectorAll("button")];
    const from = Math.max(0, buttons.indexOf(document.activeElement));
    buttons[Math.max(0, Math.min(buttons.length - 1, from + by))].focus();
  };

  const fullscreen = () => {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (document.documentElement.requestFullscreen) document.documentElement.requestFullscreen().catch(() => {});
  };
  const enter = () => {
    if (!typed) return false;
    const to = Number(typed) - 1;
    typed = "";
    show_all(false);
    go(to);
    return true;
  };
  const type = (text) => { typed = text.slice(-4); place(); };
  const turn = (by) => () => (overview.hidden ? (by > 0 ? next : back)() : move_focus(by));
  const KEYS = {
    ArrowRight: turn(1), ArrowDown: turn(1), PageDown: turn(1), " ": turn(1),
    ArrowLeft: turn(-1), ArrowUp: turn(-1), PageUp: turn(-1),
    Home: () => { show_all(false); go(0); },
    End: () => { show_all(false); go(slides.length - 1); },
    o: () => show_all(overview.hidden),
    f: fullscreen,
    Escape: () => { type(""); show_all(false); },
    Backspace: () => type(typed.slice(0, -1)),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const on_button = event.target.closest("button");
    if (event.key === "Enter") {
      if (enter()) event.preventDefault();
      return; // else it presses the button that has the focus
    }
    if (event.key === " " && (event.shiftKey || (on_button && !overview.hidden))) {
      if (!event.shiftKey) return; // space presses a button of the overview, too
      event.preventDefault();
      turn(-1)();
      return;
    }
    if (/^[0-9]$/.test(event.key)) { type(typed + event.key); return; }
    const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // A swipe is wider than high; one that is higher scrolls the slide.
  let start = null;
  deck.addEventListener("touchstart", (event) => {
    start = event.touches.length === 1 ? { x: event.touches[0].clientX, y: event.touches[0].clientY } : null;
  }, { passive: true });
  deck.addEventListener("touchend", (event) => {
    if (!start) return;
    const x = event.changedTouches[0].clientX - start.x, y = event.changedTouches[0].clientY - start.y;
    start = null;
    if (Math.abs(x) > 50 && Math.abs(x) > 2 * Math.abs(y)) (x < 0 ? next : back)();
  }, { passive: true });

  at("next").onclick = next;
  at("back").onclick = back;
  at("all").onclick = () => show_all(overview.hidden);
  // A button that was pressed must not take the next space.
  document.querySelectorAll("footer button").forEach((button) => button.addEventListener("click", () => button.blur()));
  addEventListener("hashchange", () => go(Number(location.hash.slice(1)) - 1 || 0));
  fill_overview();
  go(Number(location.hash.slice(1)) - 1 || 0);
})();
