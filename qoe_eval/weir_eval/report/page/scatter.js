// Scatter charts of two measures, and the front of many objectives: the page's data has those of each element by its id.
(() => {
  const { byId, css, narrow, plain, config, baseLayout, axis, whenShown } = chartParts;
  const colour = (controller) => css(`--c-${controller.replace(/[^A-Za-z0-9_-]/g, "_")}`) || css("--zero");
  const called = (controller) => plain(data.names[controller] || controller);

  // In points of 100.
  const LEAST_UP_RANGE = 10;

  // --- throughput against delay ----------------------------------------------------------------------------------------

  // Names of means stand above their marks, or below where another one's would be in the way.
  function placesOfNames(scatter, height) {
    const range = (values) => Math.max(...values) - Math.min(...values) || 1;
    const xs = scatter.flatMap((p) => p.delay_ms.concat(p.mean_delay_ms)).map(Math.log10);
    const ys = upRange(scatter).range || [];
    const width = Math.min(window.innerWidth, 1180) - 110;
    const marks = scatter.map((p) => ({
      x: -Math.log10(p.mean_delay_ms) / range(xs) * width, y: p.mean_y / range(ys) * height, half: 4 * p.controller.length,
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

  // Means that are close together look so: the logarithmic axis spans at least a factor of eight, with two ticks or more.
  function delayRange(scatter) {
    const logs = scatter.flatMap((p) => p.delay_ms.concat(p.mean_delay_ms)).map(Math.log10).filter(Number.isFinite);
    if (logs.length === 0) return {};
    const least = Math.min(...logs), most = Math.max(...logs);
    const beyond = Math.max(0.05 * (most - least), (Math.log10(8) - (most - least)) / 2);
    return { range: [most + beyond, least - beyond] };
  }

  // The axis upwards fits the points, with room for marks and names; values that are close together look so.
  function upRange(scatter) {
    const ys = scatter.flatMap((p) => p.y.concat(p.mean_y)).filter(Number.isFinite);
    if (ys.length === 0) return {};
    const least = Math.min(...ys), most = Math.max(...ys);
    const beyond = Math.max(0.12 * (most - least), (LEAST_UP_RANGE - (most - least)) / 2);
    return { range: [least - beyond, most + beyond] };
  }

  function drawScatter(id) {
    const scatter = data[id].points, titles = titlesOf(data[id].axes, true);
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
      xaxis: axis({ type: "log", ...delayRange(scatter), title: { text: narrow() ? titles.xNarrow : titles.x },
        tickvals: narrow() ? [1, 3, 10, 30, 100, 300, 1000, 3000] : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] }),
      yaxis: axis({ title: { text: titles.y }, ...upRange(scatter) }),
      annotations: [{ xref: "paper", yref: "paper", x: 1, y: 1, xanchor: "right", yanchor: "bottom", showarrow: false, text: "better ↗",
        font: { color: css("--muted") } }],
    }, { ...config, displayModeBar: false });
  }

  // Titles of two measures: the delay that runs across, and the measure over it.
  const titlesOf = (axes, logarithmic = false) => ({
    x: `${axes.x} (${logarithmic ? "logarithmic, " : ""}less is to the right)`,
    xNarrow: `${axes.x} (${logarithmic ? "log, " : ""}less →)`, y: axes.y, unit: axes.unit === "%" ? " %" : "",
  });

  // --- the front of many objectives ------------------------------------------------------------------------------------

  function drawFront() {
    const { fan, presets, references } = data.front, titles = titlesOf(data.front.axes);
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
      xaxis: axis({ autorange: "reversed", title: { text: narrow() ? titles.xNarrow : titles.x } }),
      yaxis: axis({ title: { text: titles.y } }),
      annotations: narrow() ? [] : [
        ...names(presets, (p) => ({ yshift: -19, xanchor: p.name === "throughput" ? "center" : "right", font: { size: 12, color: css("--ink") } })),
        ...names(references, (p) => ({ yshift: -17, font: { size: 13, color: colour(p.name) } })),
        { xref: "paper", yref: "paper", x: 1, y: 1, xanchor: "right", yanchor: "bottom", showarrow: false, text: "better ↗", font: { color: css("--muted") } },
      ],
    }, { ...config, displayModeBar: false });
  }

  // --- lines through the weights of a model, others as points -----------------------------------------------------------

  function drawLines(id) {
    const { lines, others } = data[id];
    const hover = (point) => `${point.kbps.toFixed(0)} kbps, ${point.ms.toFixed(0)} ms` + (point.weights ? `<br>${plain(point.weights)}` : "");
    const trace = (controller, points, extra) => ({
      type: "scatter", name: called(controller), x: points.map((p) => p.ms), y: points.map((p) => p.kbps), text: points.map(hover),
      hovertemplate: `%{text}<extra>${called(controller)}</extra>`, ...extra,
    });
    const traces = [
      ...lines.map((line) => trace(line.controller, line.points, {
        mode: "lines+markers", line: { color: colour(line.controller), width: 2 }, marker: { color: colour(line.controller), size: 9 },
      })),
      ...others.map((p) => trace(p.controller, [p], { mode: "markers", marker: { symbol: "x", size: 12, color: colour(p.controller) } })),
    ];
    Plotly.react(id, traces, {
      ...baseLayout(), showlegend: true, legend: { orientation: "h", y: -0.2 }, margin: { l: 50, r: 14, t: 26, b: 50 },
      xaxis: axis({ autorange: "reversed", title: { text: narrow() ? "p95 queue, ms (less →)" : "p95 queueing delay, ms (less is to the right)" } }),
      yaxis: axis({ title: { text: "received, kbps" } }),
    }, { ...config, displayModeBar: false });
  }

  const charts = [
    ["viewer-scatter", () => drawScatter("viewer-scatter")],
    ["scatter", () => drawScatter("scatter")],
    ["front", drawFront],
    ...Object.keys(data).filter((id) => data[id].lines).map((id) => [id, () => drawLines(id)]),
  ].filter(([id]) => byId(id));
  for (const [id, draw] of charts) whenShown(byId(id), draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const [id, draw] of charts) if (byId(id).classList.contains("js-plotly-plot")) draw();
  });
})();
