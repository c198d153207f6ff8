// The theme: ?theme=projector of the address, else the page's own (data-default-theme; not on a phone), else what was
// chosen last, else the system's.
(() => {
  const themes = ["light", "dark", "projector"];
  const asked = new URLSearchParams(location.search).get("theme");
  const kept = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  const dark = window.matchMedia && matchMedia("(prefers-color-scheme: dark)").matches;
  const set = (theme) => {
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("theme", theme); } catch { /* a file may not keep anything */ }
    document.dispatchEvent(new CustomEvent("theme", { detail: theme }));
  };
  const own = innerWidth >= 700 && document.querySelector("[data-default-theme]")?.dataset.defaultTheme;
  const first = [asked, own, kept].find((theme) => themes.includes(theme)) || (dark ? "dark" : "light");
  document.documentElement.dataset.theme = first;
  const bar = document.querySelector(".bar");
  if (bar) {
    const button = document.createElement("button");
    button.id = "theme";
    const name = () => { button.textContent = "theme: " + document.documentElement.dataset.theme; };
    button.onclick = () => {
      set(themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length]);
      name();
    };
    name();
    bar.append(button);
  }
})();
