(() => {
  const { byId, css, narrow, plain, config, baseLayout, axis } = chartParts;
  const data = JSON.parse(byId("data").textContent);
  const colour = (controller) => css(`--c-${controller.replace(/[^A-Za-z0-9_-]/g, "_")}`) || css("--zero");
  const called = (controller) => plain(data.names[controller] || controller);

  // --- throughput against delay ----------------------------------------------------------------------------------------

  // Names of means stand above their marks, or below where another one's would be in the way.
  function placesOfNames(scatter, height) {
    const range = (values) => Math.max(...values) - Math.min(...values) || 1;
    const xs = scatter.flatMap((p) => p.delay_ms.concat(p.mean_delay_ms)).map(Math.log10);
    const ys = scatter.flatMap((p) => p.y.concat(p.mean_y));
    const width = Math.min(window.innerWidth, 1180) - 110;
    const marks = scatter.map((p) => ({
      x: -Math.log10(p.mean_delay_ms) / range(xs) * width, y: p.mean_y / range([...ys, 0]) * height, half: 4 * p.controller.length,
    }));
    const taken = [];
    const places = { "top center": [0, 17], "bottom center": [0, -17], "middle right": [1, 0], "middle left": [-1, 0] };
    return marks.map((mark, index) => {
      const boxOf = (place) => {
        const [side, up] = places[place];
        return { x: mark.x + side * (mark.half + 12), y: mark.y + up, half: mark.half };
      };
      const overlap = (box) => taken.filter((other) => Math.abs(other.x - box.x) < other.half + box.half && Math.abs(other.y - box.y) < 15).length
        + marks.filter((other, at) => at !== index && Math.abs(other.x - box.x) < box.half + 8 && Math.abs(other.y - box.y) < 15).length;
      const best = Object.keys(places).reduce((a, b) => (overlap(boxOf(b)) < overlap(boxOf(a)) ? b : a));
      taken.push(boxOf(best));
      return best;
    });
  }

  function drawScatter(id, scatter, titles) {
    const traces = [];
    const unit = titles.unit;
    for (const points of scatter) {
      traces.push({
        type: "scatter", mode: "markers", x: points.delay_ms, y: points.y, text: points.scenario.map(plain),
        legendgroup: points.controller, showlegend: false, name: called(points.controller),
        marker: { color: colour(points.controller), size: 6, opacity: 0.32 },
        hovertemplate: `%{text}<br>%{x:.0f} ms, %{y:.0f}${unit}<extra>` + called(points.controller) + "</extra>",
      });
    }
    // On a small screen the legend names them: there is no room for names beside the marks.
    const places = narrow() ? [] : placesOfNames(scatter, 380);
    scatter.forEach((points, index) => {
      traces.push({
        type: "scatter", mode: narrow() ? "markers" : "markers+text", x: [points.mean_delay_ms], y: [points.mean_y], text: [called(points.controller)],
        textposition: places[index], textfont: { color: colour(points.controller), size: 13 }, legendgroup: points.controller, name: called(points.controller),
        marker: { color: colour(points.controller), size: narrow() ? 12 : 15, line: { width: 2, color: css("--card") } },
        hovertemplate: `mean over runs<br>%{x:.0f} ms, %{y:.0f}${unit}<extra>` + called(points.controller) + "</extra>",
      });
    });
    Plotly.react(id, traces, {
      ...baseLayout(),
      margin: { l: 50, r: 14, t: 26, b: 50 }, showlegend: true, legend: { orientation: "h", y: narrow() ? -0.28 : -0.2 },
      xaxis: axis({ type: "log", autorange: "reversed", title: { text: narrow() ? titles.xNarrow : titles.x },
        tickvals: narrow() ? [1, 10, 100, 1000] : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] }),
      yaxis: axis({ title: { text: titles.y }, rangemode: "tozero" }),
      annotations: [{ xref: "paper", yref: "paper", x: 1, y: 1, xanchor: "right", yanchor: "bottom", showarrow: false, text: "better ↗",
        font: { color: css("--muted") } }],
    }, { ...config, displayModeBar: false });
  }

  // Titles of two measures: the delay that runs across, and the measure over it.
  const titlesOf = (across, up) => ({
    x: `${data.axes[across].title} (less is to the right)`, xNarrow: `${data.axes[across].title} (less →)`,
    y: data.axes[up].title, unit: data.axes[up].unit === "%" ? " %" : "",
  });
  const SCATTER = titlesOf("p95_queueing_delay_ms", "utilisation");
  const VIEWER = titlesOf("frame_delay_ms_p95", "viewer_quality");

  // --- the front of many objectives ------------------------------------------------------------------------------------

  function drawFront() {
    const { fan, presets, references } = data.objectives;
    const scale = [[0, css("--lean-latency")], [0.5, css("--lean-even")], [1, css("--lean-throughput")]];
    const hover = (points) => points.map((p) => `${p.delay_ms.toFixed(1)} ms, ${p.utilisation.toFixed(1)} %, score ${plain(p.challenge)}` + (p.weights ? `<br>weights ${plain(p.weights)}` : ""));
    const trace = (points, extra) => ({
      type: "scatter", mode: "markers", x: points.map((p) => p.delay_ms), y: points.map((p) => p.utilisation), text: hover(points),
      hovertemplate: "%{text}<extra></extra>", ...extra,
    });
    const lean = (points, extra) => ({ color: points.map((p) => p.lean), cmin: 0, cmax: 1, colorscale: scale, ...extra });
    const front = fan.filter((p) => p.front), behind = fan.filter((p) => !p.front);
    // On a small screen the legend names them: there is no room for names beside the marks.
    const named = (points, marker) => points.map((p) => trace([p], { name: called(p.name), showlegend: narrow(), marker: marker(p) }));
    const names = (points, extra) => points.map((p) => ({ x: p.delay_ms, y: p.utilisation, text: `<b>${called(p.name)}</b>`, showarrow: false, ...extra(p) }));
    const bar = narrow()
      ? { orientation: "h", y: -0.34, yanchor: "top", thickness: 10, len: 0.9, x: 0.5 }
      : { thickness: 10, len: 0.8, x: 1.01 };
    const traces = [
      trace(front, { mode: "lines", line: { color: css("--zero"), width: 1.5 }, hoverinfo: "skip", hovertemplate: null, showlegend: false }),
      trace(behind, { marker: lean(behind, { symbol: "circle-open", size: 9, line: { width: 2 } }), showlegend: false }),
      trace(front, { showlegend: false, marker: lean(front, { size: 12, showscale: true, line: { width: 1.5, color: css("--card") },
        colorbar: { ...bar, tickvals: [0, 0.5, 1], ticktext: ["latency", "even", "throughput"], outlinewidth: 0, tickfont: { color: css("--muted") } } }) }),
      ...named(presets, (p) => lean([p], { symbol: "diamond", size: 15, line: { width: 2, color: css("--ink") } })),
      ...named(references, (p) => ({ symbol: "x", size: 11, color: colour(p.name) })),
    ];
    Plotly.react("front", traces, {
      ...baseLayout(), showlegend: narrow(), legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
      margin: { l: 50, r: narrow() ? 14 : 90, t: narrow() ? 70 : 26, b: 50 },
      xaxis: axis({ autorange: "reversed", title: { text: narrow() ? SCATTER.xNarrow : SCATTER.x } }),
      yaxis: axis({ title: { text: SCATTER.y } }),
      annotations: narrow() ? [] : [
        ...names(presets, (p) => ({ yshift: -19, xanchor: p.name === "throughput" ? "center" : "right", font: { size: 12, color: css("--ink") } })),
        ...names(references, (p) => ({ yshift: -17, font: { size: 13, color: colour(p.name) } })),
        { xref: "paper", yref: "paper", x: 1, y: 1, xanchor: "right", yanchor: "bottom", showarrow: false, text: "better ↗", font: { color: css("--muted") } },
      ],
    }, { ...config, displayModeBar: false });
  }

  // --- time series of one scenario -------------------------------------------------------------------------------------

  const hiddenControllers = new Set(data.hidden);

  function drawSeries() {
    const scenario = data.series[Number(byId("scenario").value)];
    const times = (values) => values.map((_, index) => +((index + 0.5) * scenario.interval_s).toFixed(3));
    const traces = [];
    const isJudged = (line) => data.judged.includes(line.controller);
    const add = (row, line, values, options) => traces.push({
      type: "scatter", mode: "lines", x: times(values), y: values, xaxis: "x", yaxis: row === 1 ? "y" : `y${row}`,
      line: { color: colour(line.controller), width: isJudged(line) ? 2.2 : 1.5, dash: line.dash },
      opacity: isJudged(line) ? 1 : 0.85, legendgroup: line.controller, name: plain(line.name), showlegend: false,
      visible: hiddenControllers.has(line.controller) ? "legendonly" : true, ...options,
    });
    if (scenario.capacity_kbps) {
      for (const row of [1, 2]) {
        traces.push({
          type: "scatter", mode: "lines", x: times(scenario.capacity_kbps), y: scenario.capacity_kbps, yaxis: row === 1 ? "y" : "y2",
          name: "capacity", legendgroup: "capacity", showlegend: row === 1, fill: "tozeroy", hovertemplate: "%{y:,.0f} kbps",
          line: { color: css("--capacity"), width: 1, shape: "hvh" }, fillcolor: css("--capacity") + "59",
        });
      }
    }
    const seen = new Set();
    const largestRate = Math.max(0, ...(scenario.capacity_kbps || []));
    let largestShown = 0;
    for (const flow of scenario.flows) {
      const several = scenario.flows.filter((other) => other.controller === flow.controller).length > 1;
      const line = {
        controller: flow.controller, name: called(flow.controller) + (several ? ` · ${flow.id}` : ""),
        dash: flow.kind === "rtp" ? (flow.controller === "oracle" ? "dot" : "solid") : "dash",
      };
      const first = !seen.has(flow.controller);
      seen.add(flow.controller);
      if (flow.target_kbps) add(1, line, flow.target_kbps, { showlegend: first, hovertemplate: "%{y:,.0f} kbps" });
      add(2, line, flow.receive_kbps, { showlegend: first && !flow.target_kbps, hovertemplate: "%{y:,.0f} kbps" });
      add(3, line, flow.delay_ms, { hovertemplate: "%{y:,.0f} ms" });
      if (flow.frame_delay_ms) add(4, line, flow.frame_delay_ms, { hovertemplate: "%{y:,.0f} ms" });
      add(5, line, flow.lost, { hovertemplate: "%{y:,.0f} packets", line: { color: colour(line.controller), width: 1.2, shape: "hvh", dash: line.dash } });
      // Long queues lie under the packets' delay, freezes under the frames'.
      for (const [kind, row] of [["queue", 3], ["freeze", 4]]) {
        const marked = flow.episodes.filter((episode) => episode[0] === kind);
        if (!marked.length) continue;
        add(row, line, [], {
          x: marked.flatMap(([, start, end]) => [start, (start + end) / 2, end, null]), y: marked.flatMap(() => [0, 0, 0, null]),
          text: marked.flatMap(([, , , text]) => [text, text, text, ""]), hovertemplate: "%{text}", line: { color: colour(line.controller), width: 7 },
          cliponaxis: false, opacity: 0.6,
        });
      }
      largestShown = Math.max(largestShown, ...(flow.target_kbps || [0]));
    }
    // An estimate far above the path would flatten everything else.
    const ceiling = largestRate > 0 ? Math.max(largestRate * 1.08, Math.min(largestShown * 1.05, largestRate * 1.8)) : largestShown * 1.05;
    byId("scenario-label").textContent = scenario.label || "";
    byId("scenario-note").textContent = scenario.description;
    Plotly.react("series", traces, {
      ...baseLayout(),
      margin: { l: 58, r: 12, t: 34, b: 40 }, hovermode: "x unified", uirevision: byId("scenario").value,
      legend: { orientation: "h", y: 1.01, yanchor: "bottom", x: 0, groupclick: "togglegroup", font: { size: narrow() ? 11 : 12.5 } },
      xaxis: axis({ anchor: "y5", title: { text: "Time, s" }, range: [0, scenario.duration_s], hoverformat: ".1f" }),
      yaxis: axis({ domain: [0.81, 0.99], title: { text: "Estimate, kbps" }, range: [0, ceiling || 1] }),
      yaxis2: axis({ domain: [0.61, 0.79], title: { text: "Received, kbps" }, rangemode: "tozero" }),
      yaxis3: axis({ domain: [0.38, 0.585], title: { text: narrow() ? "Packets, ms" : "Packet delay, ms" }, rangemode: "tozero" }),
      shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, yref: "y3", y0: scenario.base_delay_ms, y1: scenario.base_delay_ms,
        line: { color: css("--zero"), width: 1, dash: "dot" } }],
      yaxis4: axis({ domain: [0.15, 0.355], title: { text: narrow() ? "Frames, ms" : "Frame delay, ms" }, rangemode: "tozero" }),
      yaxis5: axis({ domain: [0, 0.125], title: { text: narrow() ? "Lost" : "Lost packets" }, rangemode: "tozero" }),
    }, config);
  }

  function rememberVisibility() {
    byId("series").on("plotly_legendclick", (event) => {
      const group = event.data[event.curveNumber].legendgroup;
      if (hiddenControllers.has(group)) hiddenControllers.delete(group); else hiddenControllers.add(group);
    });
  }

  function showScenario(name) {
    const index = data.series.findIndex((scenario) => scenario.name === name);
    if (index < 0) return;
    byId("scenario").value = String(index);
    drawSeries();
    byId("time-series").scrollIntoView();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-scenario]");
    if (button) showScenario(button.dataset.scenario);
  });

  function draw() {
    if (byId("viewer-scatter")) drawScatter("viewer-scatter", data.viewer, VIEWER);
    if (byId("scatter")) drawScatter("scatter", data.scatter, SCATTER);
    if (byId("front")) drawFront();
    if (byId("series")) drawSeries();
  }

  draw();
  if (byId("series")) {
    byId("scenario").addEventListener("change", drawSeries);
    byId("previous").addEventListener("click", () => step(-1));
    byId("next").addEventListener("click", () => step(1));
    rememberVisibility();
  }
  function step(by) {
    const count = data.series.length;
    byId("scenario").value = String((Number(byId("scenario").value) + by + count) % count);
    drawSeries();
  }
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
