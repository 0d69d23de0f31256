(() => {
  const { byId, css, narrow, config, baseLayout, axis } = chartParts;
  const data = JSON.parse(byId("data").textContent);
  const colour = (controller) => css(`--c-${controller}`) || css("--zero");

  // --- throughput against delay ----------------------------------------------------------------------------------------

  function drawScatter() {
    const traces = [];
    for (const points of data.scatter) {
      traces.push({
        type: "scatter", mode: "markers", x: points.delay_ms, y: points.utilisation, text: points.scenario,
        legendgroup: points.controller, showlegend: false, name: points.controller,
        marker: { color: colour(points.controller), size: 6, opacity: 0.32 },
        hovertemplate: "%{text}<br>%{x:.0f} ms, %{y:.0f} %<extra>" + points.controller + "</extra>",
      });
    }
    for (const points of data.scatter) {
      traces.push({
        type: "scatter", mode: "markers+text", x: [points.mean_delay_ms], y: [points.mean_utilisation], text: [points.controller],
        textposition: "top center", textfont: { color: colour(points.controller), size: 13 }, legendgroup: points.controller, name: points.controller,
        marker: { color: colour(points.controller), size: 15, line: { width: 2, color: css("--card") } },
        hovertemplate: "mean over runs<br>%{x:.0f} ms, %{y:.0f} %<extra>" + points.controller + "</extra>",
      });
    }
    Plotly.react("scatter", traces, {
      ...baseLayout(),
      margin: { l: 50, r: 14, t: 26, b: 50 }, showlegend: true, legend: { orientation: "h", y: -0.2 },
      xaxis: axis({ type: "log", autorange: "reversed", title: { text: narrow() ? "p95 queueing delay, ms" : "95th percentile of queueing delay, ms (less is to the right)" },
        tickvals: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] }),
      yaxis: axis({ title: { text: "Utilisation, %" }, rangemode: "tozero" }),
      annotations: [{ xref: "paper", yref: "paper", x: 1, y: 1, xanchor: "right", yanchor: "bottom", showarrow: false, text: "better ↗",
        font: { color: css("--muted") } }],
    }, { ...config, displayModeBar: false });
  }

  // --- the front of many objectives ------------------------------------------------------------------------------------

  function drawFront() {
    const { fan, presets, references } = data.objectives;
    const scale = [[0, css("--lean-latency")], [0.5, css("--lean-even")], [1, css("--lean-throughput")]];
    const hover = (points) => points.map((p) => `${p.delay_ms.toFixed(1)} ms, ${p.utilisation.toFixed(1)} %, score ${p.challenge}` + (p.weights ? `<br>weights ${p.weights}` : ""));
    const trace = (points, extra) => ({
      type: "scatter", mode: "markers", x: points.map((p) => p.delay_ms), y: points.map((p) => p.utilisation), text: hover(points),
      hovertemplate: "%{text}<extra></extra>", ...extra,
    });
    const lean = (points, extra) => ({ color: points.map((p) => p.lean), cmin: 0, cmax: 1, colorscale: scale, ...extra });
    const front = fan.filter((p) => p.front), behind = fan.filter((p) => !p.front);
    const named = (points, extra) => points.map((p) => ({ x: p.delay_ms, y: p.utilisation, text: `<b>${p.name}</b>`, showarrow: false, ...extra(p) }));
    const bar = narrow()
      ? { orientation: "h", y: -0.3, yanchor: "top", thickness: 10, len: 0.9, x: 0.5 }
      : { thickness: 10, len: 0.8, x: 1.01 };
    const traces = [
      trace(front, { mode: "lines", line: { color: css("--zero"), width: 1.5 }, hoverinfo: "skip", hovertemplate: null }),
      trace(behind, { marker: lean(behind, { symbol: "circle-open", size: 9, line: { width: 2 } }) }),
      trace(front, { marker: lean(front, { size: 12, showscale: true, line: { width: 1.5, color: css("--card") },
        colorbar: { ...bar, tickvals: [0, 0.5, 1], ticktext: ["latency", "even", "throughput"], outlinewidth: 0, tickfont: { color: css("--muted") } } }) }),
      trace(presets, { marker: lean(presets, { symbol: "diamond", size: 15, line: { width: 2, color: css("--ink") } }) }),
      trace(references, { marker: { symbol: "x", size: 11, color: references.map((p) => colour(p.name)) } }),
    ];
    Plotly.react("front", traces, {
      ...baseLayout(), showlegend: false, margin: { l: 50, r: narrow() ? 14 : 90, t: 26, b: 50 },
      xaxis: axis({ autorange: "reversed", title: { text: narrow() ? "p95 queueing delay, ms" : "95th percentile of queueing delay, ms (less is to the right)" } }),
      yaxis: axis({ title: { text: "Utilisation, %" } }),
      annotations: [
        ...named(presets, (p) => ({ yshift: -19, xanchor: p.name === "throughput" ? "center" : "right", font: { size: 12, color: css("--ink") } })),
        ...named(references, (p) => ({ yshift: -17, font: { size: 13, color: colour(p.name) } })),
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
    const add = (row, line, values, options) => traces.push({
      type: "scatter", mode: "lines", x: times(values), y: values, xaxis: "x", yaxis: row === 1 ? "y" : `y${row}`,
      line: { color: colour(line.controller), width: line.controller === "weir" ? 2.2 : 1.5, dash: line.dash },
      opacity: line.controller === "weir" ? 1 : 0.85, legendgroup: line.controller, name: line.name, showlegend: false,
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
        controller: flow.controller, name: several ? `${flow.controller} · ${flow.id}` : flow.controller,
        dash: flow.kind === "rtp" ? (flow.controller === "oracle" ? "dot" : "solid") : "dash",
      };
      const first = !seen.has(flow.controller);
      seen.add(flow.controller);
      if (flow.target_kbps) add(1, line, flow.target_kbps, { showlegend: first, hovertemplate: "%{y:,.0f} kbps" });
      add(2, line, flow.receive_kbps, { showlegend: first && !flow.target_kbps, hovertemplate: "%{y:,.0f} kbps" });
      add(3, line, flow.delay_ms, { hovertemplate: "%{y:,.0f} ms" });
      add(4, line, flow.lost, { hovertemplate: "%{y:,.0f} packets", line: { color: colour(line.controller), width: 1.2, shape: "hvh", dash: line.dash } });
      largestShown = Math.max(largestShown, ...(flow.target_kbps || [0]));
    }
    // An estimate far above the path would flatten everything else.
    const ceiling = largestRate > 0 ? Math.max(largestRate * 1.08, Math.min(largestShown * 1.05, largestRate * 1.8)) : largestShown * 1.05;
    byId("scenario-note").textContent = scenario.description;
    Plotly.react("series", traces, {
      ...baseLayout(),
      margin: { l: 58, r: 12, t: 34, b: 40 }, hovermode: "x unified", uirevision: byId("scenario").value,
      legend: { orientation: "h", y: 1.01, yanchor: "bottom", x: 0, groupclick: "togglegroup", font: { size: narrow() ? 11 : 12.5 } },
      xaxis: axis({ anchor: "y4", title: { text: "Time, s" }, range: [0, scenario.duration_s], hoverformat: ".1f" }),
      yaxis: axis({ domain: [0.755, 0.99], title: { text: "Estimate, kbps" }, range: [0, ceiling || 1] }),
      yaxis2: axis({ domain: [0.505, 0.735], title: { text: "Received, kbps" }, rangemode: "tozero" }),
      yaxis3: axis({ domain: [0.205, 0.485], title: { text: "Delay, ms" }, rangemode: "tozero" }),
      shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, yref: "y3", y0: scenario.base_delay_ms, y1: scenario.base_delay_ms,
        line: { color: css("--zero"), width: 1, dash: "dot" } }],
      yaxis4: axis({ domain: [0, 0.175], title: { text: "Lost packets" }, rangemode: "tozero" }),
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
    if (byId("scatter")) drawScatter();
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
