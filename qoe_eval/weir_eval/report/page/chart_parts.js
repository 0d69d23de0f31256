"use strict";
// Shared by all reports: the page's colours and fonts for Plotly, and selectors of tables.
const chartParts = (() => {
  const byId = (id) => document.getElementById(id);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const narrow = () => window.innerWidth < 640;
  // Plotly reads some markup and placeholders in texts.
  const plain = (text) => (text.length > 48 ? text.slice(0, 47) + "…" : text).replace(/[<>&%{}]/g, " ");
  const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };

  function baseLayout() {
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: css("--ink") },
      hoverlabel: { bgcolor: css("--card"), bordercolor: css("--line"), font: { color: css("--ink") } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--muted"), activecolor: css("--accent") },
    };
  }

  function axis(extra) {
    return {
      gridcolor: css("--grid"), linecolor: css("--line"), zerolinecolor: css("--line"), tickfont: { color: css("--muted") },
      automargin: true, ...extra,
    };
  }

  for (const select of document.querySelectorAll("select[data-shows]")) {
    const show = () => {
      for (const one of document.querySelectorAll(`[data-choice-of="${select.dataset.shows}"]`)) one.hidden = one.dataset.choice !== select.value;
    };
    select.addEventListener("change", show);
    show();
  }

  // A table wider than its place is marked, and fades at the edge that hides columns.
  const tables = [...document.querySelectorAll(".scroll")];
  const showCut = (element) => {
    const hidden = element.scrollWidth - element.clientWidth;
    element.classList.toggle("wide", hidden > 4);
    element.classList.toggle("cut", hidden - element.scrollLeft > 4);
  };
  const watch = new ResizeObserver((entries) => entries.forEach((entry) => showCut(entry.target)));
  for (const element of tables) {
    watch.observe(element);
    element.addEventListener("scroll", () => showCut(element), { passive: true });
  }

  // Draws a chart when it is first seen: in a closed section it has no width.
  function whenShown(element, draw) {
    const closed = element.closest("details:not([open])");
    if (closed) closed.addEventListener("toggle", () => whenShown(element, draw), { once: true });
    else draw();
  }

  // A link to a section opens it, and so does printing.
  const sections = [...document.querySelectorAll("details.section")];
  const open = (hash) => {
    const found = sections.find((one) => `#${one.parentElement.id}` === hash);
    if (found) found.open = true;
  };
  document.addEventListener("click", ({ target }) => open(target.closest('a[href^="#"]')?.hash));
  window.addEventListener("hashchange", () => open(location.hash));
  window.addEventListener("beforeprint", () => sections.forEach((one) => { one.open = true; }));
  open(location.hash);

  return { byId, css, narrow, plain, config, baseLayout, axis, whenShown };
})();

// Plotly and the data are in the page as base64 of zlib: a third of their size. Runs Plotly, and resolves to the data.
async function unpackedPage() {
  const unpacked = (id) => {
    const bytes = Uint8Array.from(atob(chartParts.byId(id).textContent), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };
  const script = document.createElement("script");
  script.textContent = await unpacked("plotly");
  document.head.append(script);
  return JSON.parse(await unpacked("data"));
}
