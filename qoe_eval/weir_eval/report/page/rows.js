// Charts of rows under one another over one time axis. data.charts, the page's data, holds them; an element with data-chart shows the one of
// that index, and a select with data-chart-of="ID" chooses the chart of the element ID.
(() => {
  const { byId, css, narrow, plain, config, baseLayout, axis, whenShown } = chartParts;
  const GAP = 0.035;
  const called = (name) => plain(data.names?.[name] || name);
  // A click in the legend of one chart counts for all of them.
  const hidden = new Set(data.hidden);

  function trace(line, row, first) {
    const colour = css(line.colour) || css("--zero");
    return {
      type: "scatter", mode: line.marks || line.x.length === 1 ? "markers" : "lines", x: line.x, y: line.y, yaxis: row === 0 ? "y" : `y${row + 1}`,
      name: called(line.group), legendgroup: line.group, showlegend: first, connectgaps: false,
      visible: hidden.has(line.group) ? "legendonly" : true,
      marker: { color: colour, size: line.marks ? 5 : 6, opacity: line.marks ? 0.5 : 1 },
      ...(line.text ? { text: line.text } : {}),
      hovertemplate: line.text ? `${called(line.name)}: %{text}<extra></extra>` : `${called(line.name)}: ${line.marks ? "%{x:,.1f}, " : ""}%{y:,.${line.decimals}f}${line.unit ? " " + line.unit : ""}<extra></extra>`, opacity: line.dash ? 0.75 : 1,
      line: { color: colour, width: line.width, dash: line.dash || "solid", shape: line.step ? "hv" : "linear" },
      ...(line.fill ? { fill: "tozeroy", fillcolor: colour + "59" } : {}),
    };
  }

  function draw(element) {
    const chart = data.charts[Number(element.dataset.chart)];
    const shares = chart.rows.map((row) => row.share);
    const total = shares.reduce((a, b) => a + b, 0);
    // A log may have few of the rows.
    if (element.classList.contains("connection")) element.style.height = `${Math.min(1180, 80 + 180 * total)}px`;
    const layout = {
      ...baseLayout(), margin: { l: 58, r: 12, t: 34, b: 40 }, hovermode: chart.rows.some((row) => row.lines.some((line) => line.marks)) ? "closest" : "x unified", uirevision: element.dataset.chart,
      legend: { orientation: "h", y: 1.005, yanchor: "bottom", x: 0, groupclick: "togglegroup", font: { size: narrow() ? 11 : 12.5 } },
      xaxis: axis({ anchor: `y${chart.rows.length > 1 ? chart.rows.length : ""}`, title: { text: chart.x_title || "Time, s" }, range: [0, chart.duration_s], hoverformat: ".1f" }),
      annotations: [],
      shapes: (chart.spans || []).map(([start, end]) => ({
        type: "rect", yref: "paper", x0: start, x1: end, y0: 0, y1: 1, layer: "below",
        fillcolor: css("--bad") + "40", line: { color: css("--bad"), width: 1 },
      })),
    };
    const traces = [];
    const seen = new Set();
    let top = 1;
    chart.rows.forEach((row, index) => {
      const height = (1 - GAP * (chart.rows.length - 1)) * row.share / total;
      const domain = [Math.max(0, top - height), top];
      top -= height + GAP;
      layout[index === 0 ? "yaxis" : `yaxis${index + 1}`] = axis({
        domain, title: { text: row.title, standoff: 6 }, rangemode: "tozero",
        ...(row.range ? { range: row.range } : {}), ...(row.ticks ? { tickvals: row.ticks.map((_, i) => i), ticktext: row.ticks.map(plain) } : {}),
      });
      for (const line of row.lines) {
        traces.push(trace(line, index, !seen.has(line.group)));
        seen.add(line.group);
      }
    });
    Plotly.react(element, traces, layout, config);
    const note = byId(`${element.id}-note`);
    if (note) note.textContent = chart.note;
  }

  function rememberVisibility(element) {
    element.on("plotly_legendclick", (event) => {
      const group = data.charts[Number(element.dataset.chart)].rows.flatMap((row) => row.lines).map((line) => line.group)
        .find((one) => called(one) === event.data[event.curveNumber].name);
      if (!hidden.delete(group)) hidden.add(group);
    });
  }

  const elements = [...document.querySelectorAll("[data-chart]")];
  for (const select of document.querySelectorAll("select[data-chart-of]")) {
    const element = byId(select.dataset.chartOf);
    const show = () => { element.dataset.chart = select.value; draw(element); };
    select.addEventListener("change", show);
    for (const button of document.querySelectorAll(`button[data-step-of="${select.id}"]`)) {
      button.addEventListener("click", () => {
        select.value = String((Number(select.value) + Number(button.dataset.step) + select.options.length) % select.options.length);
        show();
      });
    }
  }

  // A scenario's name in a table leads to its chart.
  document.addEventListener("click", ({ target }) => {
    const name = target.closest("button[data-scenario]")?.dataset.scenario;
    const index = name === undefined ? -1 : data.charts.findIndex((chart) => chart.name === name);
    const select = document.querySelector("select[data-chart-of]");
    if (index < 0 || !select) return;
    const folded = select.closest("details.section");
    if (folded) folded.open = true;
    select.value = String(index);
    select.dispatchEvent(new Event("change"));
    select.closest("section").scrollIntoView();
  });

  for (const element of elements) whenShown(element, () => { draw(element); rememberVisibility(element); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    elements.filter((one) => one.classList.contains("js-plotly-plot")).forEach(draw);
  });
})();
