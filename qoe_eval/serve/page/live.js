// The live view: four plots on one time axis, their legends with the values at the cursor or now.
import { WINDOW_MS } from "./call_data.js";
import { byId, element, milliseconds, percent, rate, setText } from "./dom.js";
import { reasonOf } from "./guard.js";
import { Lane, Plot, timeAt } from "./plot.js";

const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
const READ_AFTER_MS = 350;

export class Live {
  constructor() {
    this.data = null;
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

  show(data) {
    this.data = data;
    this.cursor = null;
    const { series, call } = data;
    const rateLines = [
      { series: series.capacity, colour: "--capacity", edge: "--zero", kind: "area", width: 1, opacity: 0.5, name: "Capacity" },
      { series: series.available, colour: "--capacity", edge: "--zero", kind: "area", width: 1, opacity: 0.6, name: "Available" },
      { series: series.received, colour: "--received", kind: "line", width: 2.2, name: "Received" },
      { series: series.gcc, colour: "--c-gcc", kind: "line", name: "GCC's estimate", dash: [6, 3] },
      { series: series.estimate, colour: "--c-weir", kind: "line", name: call.controller === "shadow" ? "Weir's (shadow)" : "Estimate" },
    ].filter((line) => line.name !== "Available" || data.crossTraffic.length);
    const delayLines = [
      { series: series.queue, colour: "--queue", kind: "area", name: "On the link", opacity: 0.3 },
      { series: series.seenQueue, colour: "--c-weir", kind: "line", name: "measured by Weir" },
    ];
    const lossLines = [
      { series: series.lost, colour: "--bad", kind: "area", name: "On the link", opacity: 0.3 },
      { series: series.seenLost, colour: "--c-weir", kind: "line", name: "measured by Weir" },
    ];
    this.panels = [
      { lines: rateLines, show: rate, title: "Rate", legend: byId("rate-legend"), plot: new Plot(byId("rate-plot"), {
        lines: rateLines, floor: 5e5, label: (value) => String(+(value / 1e6).toFixed(2)), top: (from, to) => this.rateTop(from, to), count: 4 }) },
      { lines: delayLines, show: milliseconds, title: "Queueing delay", legend: byId("delay-legend"), plot: new Plot(byId("delay-plot"), {
        lines: delayLines, floor: 50, label: String, top: (from, to) => Math.max(...delayLines.map((line) => line.series.max(from, to))) }) },
      { lines: lossLines, show: percent, title: "Loss", legend: byId("loss-legend"), plot: new Plot(byId("loss-plot"), {
        lines: lossLines, floor: 0.02, label: (value) => `${+(100 * value).toFixed(1)}`, times: true, count: 2,
        top: (from, to) => Math.min(1, Math.max(...lossLines.map((line) => line.series.max(from, to)))) }) },
    ];
    this.lane = new Lane(byId("reason-plot"), series.reason, reasonOf);
    this.buildLegends();
    this.draw();
  }

  buildLegends() {
    const units = { Rate: "Mbps", "Queueing delay": "ms", Loss: "%" };
    for (const panel of this.panels) {
      panel.values = panel.lines.map(() => element("b", { text: "–" }));
      panel.items = panel.lines.map((line, index) => {
        const mark = element("span", { class: `mark ${line.kind}${line.dash ? " dashed" : ""}`, "aria-hidden": "true" });
        mark.style.setProperty("--colour", `var(${line.edge || line.colour})`);
        return element("span", { class: "item" }, mark, element("span", { text: line.name }), panel.values[index]);
      });
      panel.legend.replaceChildren(element("span", { class: "name" }, panel.title, element("small", { text: ` ${units[panel.title]}` })), ...panel.items);
    }
    this.reasonNow = element("b", { text: "–" });
    byId("reason-legend").replaceChildren(element("span", { class: "name", text: "Decided by" }), element("span", { class: "item" }, this.reasonNow));
  }

  // The received rate and the estimate must be visible; a capacity far above them may be cut off.
  rateTop(from, to) {
    const { series } = this.data;
    const received = series.received.max(from, to);
    const estimates = Math.max(series.estimate.max(from, to), series.gcc.max(from, to));
    const shown = Math.max(received, Math.min(estimates, Math.max(2.2 * received, 1e6)));
    const capacity = series.capacity.max(from, to);
    return Math.max(shown, Math.min(capacity, shown > 0 ? 2.5 * shown : capacity));
  }

  get view() {
    const { data } = this;
    const origin = data.origin ?? 0;
    const to = Math.max(origin + WINDOW_MS, data.now);
    return { from: to - WINDOW_MS, to, origin, now: data.now, cursor: this.cursor, marks: data.marks };
  }

  // After new data; the rate is limited to leave CPU time to the call.
  refresh() {
    if (performance.now() - this.drawn >= (calm.matches ? 500 : 90)) this.draw();
    else if (!this.waiting) this.waiting = setTimeout(() => { this.waiting = null; this.draw(); }, 120);
  }

  draw() {
    if (!this.data || document.hidden) return;
    this.drawn = performance.now();
    const view = this.view;
    if (this.cursor !== null && this.cursor < view.from) this.cursor = view.cursor = null;
    const time = this.cursor ?? this.data.now;
    for (const panel of this.panels) {
      panel.plot.draw(view);
      panel.lines.forEach((line, index) => {
        const value = line.series.at(time);
        setText(panel.values[index], value === null ? "–" : panel.show(value));
        panel.items[index].hidden = line.series.times.length === 0;
      });
    }
    this.lane.draw(view);
    const reason = this.data.series.reason.at(time);
    setText(this.reasonNow, reason === null ? "–" : reasonOf(reason).label);
    this.group.classList.toggle("at-cursor", this.cursor !== null);
  }

  // --- the cursor -------------------------------------------------------------------------------------------------------

  point(canvas, event) {
    if (!this.data) return;
    this.moveTo(Math.min(this.data.now, timeAt(canvas, event.clientX, this.view)));
  }

  key(event) {
    if (!this.data) return;
    const { view, data } = this;
    const step = event.shiftKey ? 5000 : 500;
    const current = this.cursor ?? data.now;
    const first = Math.max(view.from, data.origin ?? view.from);
    const to = { ArrowLeft: current - step, ArrowRight: current + step, Home: first, End: data.now, Escape: null }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.moveTo(to === null ? null : Math.min(data.now, Math.max(first, to)));
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
    const seconds = ((this.cursor - this.view.origin) / 1000).toFixed(1);
    const values = this.panels.flatMap((panel) => panel.lines
      .map((line) => [line.name, line.series.at(this.cursor)])
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${panel.title}, ${name}: ${panel.show(value)}`));
    return `At ${seconds} seconds. ${values.join(". ")}. Decided by: ${this.reasonNow.textContent}.`;
  }
}
