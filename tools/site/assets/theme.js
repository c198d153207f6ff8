// The documents and the pages beside them share a theme: ?theme=projector of the address, else what was chosen last.
// Runs in the head, before Material for MkDocs reads its own storage, so that nothing flashes.
(() => {
  const schemes = { light: "default", dark: "slate", projector: "projector" };
  const asked = new URLSearchParams(location.search).get("theme");
  const kept = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  const theme = [asked, kept].find((name) => name in schemes);
  if (theme) {
    const index = Object.keys(schemes).indexOf(theme);
    __md_set("__palette", { index, color: { media: "", scheme: schemes[theme], primary: "custom", accent: "custom" } });
  }
  document.addEventListener("change", (event) => {
    const scheme = event.target.dataset && event.target.dataset.mdColorScheme;
    const chosen = Object.keys(schemes).find((name) => schemes[name] === scheme);
    try { if (chosen) localStorage.setItem("theme", chosen); } catch { /* a file may not keep anything */ }
  });
})();
