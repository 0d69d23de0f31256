// Plots of a scenario's capacity: small in the list, with progress during a call, and large with axes.
import { Series } from "./call_data.js";
import { element, milliseconds, rate, svg } from "./dom.js";
import { Plot } from "./plot.js";

const WIDTH = 160, HEIGHT = 40;

// The path of the area of steps, [[time s, kbps], ...], each holding until the next, in a box of WIDTH x HEIGHT.
function areaPath(steps, duration, largest) {
  const y = (value) => (HEIGHT - 1 - (value / largest) * (HEIGHT - 4)).toFixed(1);
  const line = steps.map(([time, value]) => `H${((time / duration) * WIDTH).toFixed(1)}V${y(value)}`).join("");
  return `M0 ${HEIGHT}${line}H${WIDTH}V${HEIGHT}Z`;
}

// Capacity minus constant-rate flows; null if there are none.
function available(scenario) {
  const flows = scenario.cross_traffic;
  if (flows.length === 0) return null;
  const changes = flows.flatMap((flow) => [flow.start_s, flow.stop_s]).filter((time) => time < scenario.duration_s);
  const times = [...new Set([...scenario.capacity.map(([time]) => time), ...changes])].sort((a, b) => a - b);
  return times.map((time) => {
    const capacity = scenario.capacity.findLast(([start]) => start <= time)[1];
    const taken = flows.filter((flow) => flow.start_s <= time && time < flow.stop_s).reduce((sum, flow) => sum + flow.rate_bps, 0);
    return [time, Math.max(0, capacity - taken / 1000)];
  });
}

const highest = (scenario) => Math.max(...scenario.capacity.map(([, value]) => value));

// duration: of the part that is shown, s.
export function fillSketch(picture, scenario, duration = scenario.duration_s) {
  const largest = highest(scenario) * 1.05 || 1;
  const area = (steps) => areaPath(steps, duration, largest);
  const rest = available(scenario);
  picture.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  picture.replaceChildren(svg("path", { class: rest ? "taken" : "capacity", d: area(scenario.capacity) }));
  if (rest) picture.append(svg("path", { class: "capacity", d: area(rest) }));
  return picture;
}

export function smallSketch(scenario) {
  return fillSketch(svg("svg", { class: "sketch", preserveAspectRatio: "none", "aria-hidden": "true" }), scenario);
}

// Draws the progress of the scenario; share from 0 to 1.
export function setProgress(picture, share) {
  let line = picture.querySelector(".now");
  if (!line) {
    line = svg("rect", { class: "now", y: 0, height: HEIGHT, width: 0.8 });
    picture.append(svg("rect", { class: "past", x: 0, y: 0, height: HEIGHT }), line);
  }
  const x = Math.min(1, Math.max(0, share)) * WIDTH;
  line.setAttribute("x", (x - 0.4).toFixed(2));
  picture.querySelector(".past").setAttribute("width", x.toFixed(2));
}

// "0.49 – 10.7 Mbps"
export function range(scenario) {
  if (scenario.unlimited) return "unlimited";
  const low = Math.min(...scenario.capacity.map(([, value]) => value)), high = highest(scenario);
  return low === high ? rate(1000 * high) : `${rate(1000 * low)} to ${rate(1000 * high)}`;
}

// The whole scenario with axes.
export class Preview {
  constructor(canvas) {
    this.canvas = canvas;
    new ResizeObserver(() => this.draw()).observe(canvas);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(scenario) {
    const series = (steps) => {
      const made = new Series(Infinity);
      for (const [time, value] of steps) made.add(1000 * time, 1000 * value);
      made.add(1000 * scenario.duration_s, 1000 * steps[steps.length - 1][1]);
      return made;
    };
    const rest = available(scenario);
    const lines = [{ series: series(scenario.capacity), colour: rest ? "--grid" : "--accent", edge: rest ? "--zero" : "--accent", kind: "area", width: 1.4, opacity: rest ? 0.8 : 0.3 }];
    if (rest) lines.push({ series: series(rest), colour: "--accent", kind: "area", width: 1.4, opacity: 0.3 });
    const largest = 1000 * highest(scenario);
    this.plot = new Plot(this.canvas, { lines, floor: 1e5, top: () => largest, label: (value) => String(+(value / 1e6).toFixed(3)), times: true, count: 4 });
    this.view = { from: 0, to: 1000 * scenario.duration_s, cursor: null };
    this.canvas.setAttribute("aria-label", `Capacity over ${scenario.duration_s} s: ${range(scenario)}`);
    this.draw();
  }

  draw() {
    if (this.plot) this.plot.draw(this.view);
  }
}

export function factsOf(scenario) {
  const facts = [
    ["Capacity", range(scenario)], ["One way", milliseconds(scenario.one_way_delay_ms)], ["Queue", scenario.queue], ["Loss", scenario.loss],
    ["Jitter", scenario.jitter], ["Other traffic", scenario.traffic], ["Length", `${scenario.duration_s} s`],
  ];
  return facts.map(([name, value]) => element("div", {}, element("dt", { text: name }), element("dd", { text: value })));
}
