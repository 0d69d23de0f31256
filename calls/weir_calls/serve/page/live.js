// The live view: four plots on one time axis, their legends with the values at the cursor or now.
import { WINDOW_MS } from "./call_data.js";
import { colourOf, shortName } from "./controllers.js";
import { byId, element, milliseconds, percent, rate, setText, svg } from "./dom.js";
import { reasonOf } from "./guard.js";
import { Lane, Plot, timeAt } from "./plot.js";

const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
const READ_AFTER_MS = 350;
// Those of the first, second and third series of a call in a plot.
const DASHES = [[], [2, 3], [7, 3]];

// A piece of the line or area as the plot draws it.
function swatch({ kind, colour, edge, width, dash }) {
  const mark = svg("svg", { class: `mark ${kind}`, viewBox: "0 0 26 10", "aria-hidden": "true" },
    svg("path", { d: kind === "area" ? "M7.5 .5h11v9h-11z" : "M0 5h26", "stroke-width": width, "stroke-dasharray": dash?.join(" ") }));
  mark.style.setProperty("--colour", `var(${edge || colour})`);
  return mark;
}

export class Live {
  constructor() {
    this.lanes = null;
    this.cursor = null;
    this.drawn = 0;
    this.group = byId("plots");
    this.group.addEventListener("keydown", (event) => this.key(event));
    for (const canvas of this.group.querySelectorAll("canvas")) {
      for (const kind of ["pointerdown", "pointermove"]) canvas.addEventListener(kind, (event) => this.point(canvas, event));
    }
    this.group.addEventListener("pointerleave", () => this.moveTo(null));
    this.group.addEventListener("blur", () => this.moveTo(null));
    new ResizeObserver(() => this.draw()).observe(this.group);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  // lanes: the CallData of each call, which have the same path; `follow` is called next.
  // duration: of the call, ms.
  show(lanes, duration = WINDOW_MS) {
    this.duration = duration;
    this.ended = false;
    this.lanes = lanes;
    this.cursor = null;
    const [{ series, crossTraffic }] = lanes;
    const rateLines = [
      { series: series.capacity, colour: "--capacity", edge: "--zero", kind: "area", width: 1, opacity: 0.5, name: "Capacity" },
      { series: series.available, colour: "--capacity", edge: "--zero", kind: "area", width: 1, opacity: 0.6, name: "Available" },
      ...this.linesOf({ received: "received", sender: "estimate of the sender", estimate: "estimate" }),
    ].filter((line) => line.name !== "Available" || crossTraffic.length);
    const delayLines = this.linesOf({ queue: "on the link", seenQueue: "measured by Weir" });
    const lossLines = this.linesOf({ lost: "on the link", seenLost: "measured by Weir" });
    const top = (lines) => (from, to) => Math.max(...lines.map((line) => line.series.max(from, to)));
    this.panels = [
      { lines: rateLines, show: rate, title: "Rate", legend: byId("rate-legend"), plot: new Plot(byId("rate-plot"), {
        lines: rateLines, floor: 5e5, label: (value) => String(+(value / 1e6).toFixed(2)), top: (from, to) => this.rateTop(from, to), count: 4 }) },
      { lines: delayLines, show: milliseconds, title: "Queueing delay", legend: byId("delay-legend"), plot: new Plot(byId("delay-plot"), {
        lines: delayLines, floor: 50, label: String, top: top(delayLines) }) },
      { lines: lossLines, show: percent, title: "Loss", legend: byId("loss-legend"), plot: new Plot(byId("loss-plot"), {
        lines: lossLines, floor: 0.02, limit: 1, label: (value) => `${+(100 * value).toFixed(1)}`, times: true, count: 2,
        top: top(lossLines) }) },
    ];
    this.buildLegends();
  }

  // decided: the call whose reasons and marks are shown.
  follow(decided) {
    this.decided = decided;
    setText(this.reasonTitle, this.lanes.length > 1 ? `Decided by, ${shortName(decided.controller)}` : "Decided by");
    this.reasons = new Lane(byId("reason-plot"), decided.series.reason, reasonOf);
    this.draw();
  }

  // For each call a line of each of these series, in the color of its controller; the first is solid.
  linesOf(names) {
    return this.lanes.flatMap(({ series, controller }) => Object.entries(names).map(([key, name], index) => ({
      series: series[key], colour: key === "estimate" && controller === "shadow" ? "--c-weir" : colourOf(controller), kind: "line",
      width: index ? 1.4 : 2.2, dash: DASHES[index], name: this.lanes.length > 1 ? `${shortName(controller)}, ${name}` : name[0].toUpperCase() + name.slice(1),
    })));
  }

  buildLegends() {
    const units = { Rate: "Mbps", "Queueing delay": "ms", Loss: "%" };
    for (const panel of this.panels) {
      panel.values = panel.lines.map(() => element("b", { text: "–" }));
      panel.items = panel.lines.map((line, index) => {
        return element("span", { class: "item" }, swatch(line), element("span", { text: line.name }), panel.values[index]);
      });
      panel.legend.replaceChildren(element("span", { class: "name" }, panel.title, element("small", { text: ` ${units[panel.title]}` })), ...panel.items);
    }
    this.reasonTitle = element("span", { class: "name", text: "Decided by" });
    this.reasonNow = element("b", { text: "–" });
    this.reasonItems = element("span", { class: "items" });
    this.reasonsShown = "";
    byId("reason-legend").replaceChildren(this.reasonTitle, element("span", { class: "item" }, this.reasonNow), this.reasonItems);
  }

  // The colors and names of the reasons in view, in the order of their first times.
  showReasons(from) {
    const { series } = this.reasons;
    const names = [...new Set(series.values.slice(Math.max(0, series.indexAt(from))))];
    if (this.reasonsShown === names.join()) return;
    this.reasonsShown = names.join();
    this.reasonItems.replaceChildren(...names.map((name) => {
      const { label, colour, text } = reasonOf(name);
      return element("span", { class: "item", title: text }, swatch({ kind: "solid", colour, width: 8 }), element("span", { text: label }));
    }));
  }

  // The received rate and the estimate must be visible; a capacity far above them may be cut off.
  rateTop(from, to) {
    const highest = (...names) => Math.max(...this.lanes.flatMap(({ series }) => names.map((name) => series[name].max(from, to))));
    const shown = highest("received", "estimate", "sender");
    const capacity = highest("capacity");
    return Math.max(shown, Math.min(capacity, shown > 0 ? 2.5 * shown : capacity));
  }

  // The latest time of the running calls, or of all when none runs: of two calls, one may have ended earlier.
  get now() {
    const running = this.lanes.filter((data) => data.started && !data.over);
    return Math.max(...(running.length ? running : this.lanes).map((data) => data.now));
  }

  get view() {
    const { now } = this;
    const length = Math.min(WINDOW_MS, this.duration);
    const to = Math.max(length, now);
    return { from: to - length, to, now, cursor: this.cursor, marks: this.decided.marks };
  }

  // Redraws after new data, at a limited rate that leaves CPU time for the call.
  refresh() {
    if (performance.now() - this.drawn >= (calm.matches ? 500 : 90)) this.draw();
    else if (!this.waiting) this.waiting = setTimeout(() => { this.waiting = null; this.draw(); }, 120);
  }

  draw() {
    if (!this.lanes || document.hidden) return;
    this.drawn = performance.now();
    const view = this.view;
    if (this.cursor !== null && this.cursor < view.from) this.cursor = view.cursor = null;
    const time = this.cursor ?? view.now;
    // The last values of an ended call are no results.
    const hidden = this.ended && this.cursor === null;
    for (const panel of this.panels) {
      panel.plot.draw(view);
      panel.lines.forEach((line, index) => {
        const value = line.series.at(time);
        setText(panel.values[index], value === null || hidden ? "–" : panel.show(value));
        panel.items[index].hidden = line.series.times.length === 0;
      });
    }
    this.reasons.draw({ ...view, now: this.decided.now });
    this.showReasons(view.from);
    const reason = this.decided.series.reason.at(time);
    setText(this.reasonNow, reason === null || hidden ? "–" : reasonOf(reason).label);
    this.group.classList.toggle("at-cursor", this.cursor !== null);
  }

  // --- the cursor -------------------------------------------------------------------------------------------------------

  point(canvas, event) {
    if (!this.lanes) return;
    this.moveTo(Math.min(this.now, timeAt(canvas, event.clientX, this.view)));
  }

  key(event) {
    if (!this.lanes) return;
    const { view } = this;
    const step = event.shiftKey ? 5000 : 500;
    const current = this.cursor ?? view.now;
    const first = Math.max(view.from, 0);
    const to = { ArrowLeft: current - step, ArrowRight: current + step, Home: first, End: view.now, Escape: null }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.moveTo(to === null ? null : Math.min(view.now, Math.max(first, to)));
    clearTimeout(this.reading);
    this.reading = setTimeout(() => setText(byId("readout"), this.sentence()), READ_AFTER_MS);
  }

  moveTo(time) {
    if (this.cursor === time) return;
    this.cursor = time;
    this.draw();
  }

  sentence() {
    if (this.cursor === null) return "";
    const seconds = (this.cursor / 1000).toFixed(1);
    const values = this.panels.flatMap((panel) => panel.lines
      .map((line) => [line.name, line.series.at(this.cursor)])
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${panel.title}, ${name}: ${panel.show(value)}`));
    return `At ${seconds} seconds. ${values.join(". ")}. Decided by: ${this.reasonNow.textContent}.`;
  }
}
