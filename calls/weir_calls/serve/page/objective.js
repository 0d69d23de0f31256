// The objective: three weights, set by presets, by a triangle for the pointer, or by three linked sliders.
import { byId, element, setText, svg } from "./dom.js";

const NAMES = ["throughput", "latency", "loss"];

// The nearest allowed weights: those below the minimum are raised, the others keep their proportions.
export function allowed(weights, minimum) {
  let result = weights.map((weight) => Math.max(0, weight));
  const low = new Set();
  for (let round = 0; round < 3; round++) {
    const free = 1 - minimum * low.size;
    const sum = result.reduce((total, weight, index) => total + (low.has(index) ? 0 : weight), 0);
    result = result.map((weight, index) => (low.has(index) ? minimum : sum > 0 ? (weight / sum) * free : free / (3 - low.size)));
    const below = result.findIndex((weight, index) => !low.has(index) && weight < minimum);
    if (below < 0) break;
    low.add(below);
  }
  return result;
}

// Changes one weight; the other two keep their proportion as far as the minimum allows.
export function moved(weights, index, value, minimum) {
  const target = Math.min(1 - 2 * minimum, Math.max(minimum, value));
  const others = [0, 1, 2].filter((other) => other !== index);
  const rest = 1 - target;
  const sum = weights[others[0]] + weights[others[1]];
  const first = Math.min(rest - minimum, Math.max(minimum, sum > 0 ? (weights[others[0]] / sum) * rest : rest / 2));
  const result = [0, 0, 0];
  result[index] = target;
  result[others[0]] = first;
  result[others[1]] = rest - first;
  return result;
}

// Integer percentages with sum 100.
export function percents(weights) {
  const shown = weights.map((weight) => Math.round(100 * weight));
  const over = shown[0] + shown[1] + shown[2] - 100;
  if (over !== 0) {
    const largest = shown.indexOf(Math.max(...shown));
    shown[largest] -= over;
  }
  return shown;
}

const same = (a, b) => a.every((weight, index) => Math.abs(weight - b[index]) < 0.005);

// The corners of the triangle, in the order of the weights.
const CORNERS = [[130, 20], [26, 176], [234, 176]];

export function toPoint(weights) {
  return [0, 1].map((axis) => weights.reduce((total, weight, index) => total + weight * CORNERS[index][axis], 0));
}

export function fromPoint([x, y]) {
  const [[x1, y1], [x2, y2], [x3, y3]] = CORNERS;
  const area = (y2 - y3) * (x1 - x3) + (x3 - x2) * (y1 - y3);
  const first = ((y2 - y3) * (x - x3) + (x3 - x2) * (y - y3)) / area;
  const second = ((y3 - y1) * (x - x3) + (x1 - x3) * (y - y3)) / area;
  return [first, second, 1 - first - second];
}

const SEND_EVERY_MS = 120;
const LABELS = { throughput: "Throughput", latency: "Latency", loss: "Loss" };

export class Objective {
  // changed(weights): called when the user changes them, at most every 120 ms, and always for the last position.
  constructor(presets, minimum, changed) {
    this.presets = presets;
    this.minimum = minimum;
    this.changed = changed;
    this.weights = Object.values(presets)[0];
    this.pending = null;
    this.lastSent = 0;
    this.buildPresets();
    this.buildSliders();
    this.buildTriangle();
    this.show();
  }

  get value() {
    const [throughput, latency] = this.weights.map((weight) => Math.round(weight * 1e4) / 1e4);
    return { throughput, latency, loss: Math.round((1 - throughput - latency) * 1e4) / 1e4 };
  }

  // Shows weights from the server.
  set(weights) {
    if (this.dragging) return;
    this.weights = weights;
    this.show();
  }

  move(weights) {
    this.weights = weights;
    this.show();
    clearTimeout(this.pending);
    const wait = this.lastSent + SEND_EVERY_MS - performance.now();
    if (wait <= 0) this.send();
    else this.pending = setTimeout(() => this.send(), wait);
  }

  send() {
    this.lastSent = performance.now();
    this.changed(this.value);
  }

  show() {
    const shown = percents(this.weights);
    NAMES.forEach((name, index) => {
      const slider = byId(`weight-${name}`);
      slider.value = String(shown[index]);
      slider.setAttribute("aria-valuetext", (shown[index] / 100).toFixed(2));
      slider.style.setProperty("--filled", `${((shown[index] - +slider.min) / (slider.max - slider.min)) * 100}%`);
      setText(byId(`weight-${name}-value`), (shown[index] / 100).toFixed(2));
    });
    for (const button of byId("presets").children) {
      button.setAttribute("aria-pressed", String(same(this.weights, this.presets[button.dataset.preset])));
    }
    this.place(byId("handle"), this.weights);
  }

  place(mark, weights) {
    const [x, y] = toPoint(weights);
    mark.setAttribute("cx", x.toFixed(1));
    mark.setAttribute("cy", y.toFixed(1));
  }

  buildPresets() {
    byId("presets").replaceChildren(
      ...Object.entries(this.presets).map(([name, weights]) =>
        element("button", { type: "button", "data-preset": name, text: name, onclick: () => this.move(weights) })),
    );
  }

  buildSliders() {
    const low = Math.round(100 * this.minimum);
    byId("sliders").replaceChildren(
      ...NAMES.map((name, index) => {
        const id = `weight-${name}`;
        const slider = element("input", { id, type: "range", min: low, max: 100 - 2 * low, step: 1 });
        slider.addEventListener("input", () => this.move(moved(this.weights, index, slider.valueAsNumber / 100, this.minimum)));
        return element("div", { class: `slider ${name}` }, element("label", { for: id, text: LABELS[name] }), slider,
          element("output", { id: `${id}-value`, for: id }));
      }),
    );
  }

  buildTriangle() {
    const triangle = byId("triangle");
    const field = byId("triangle-field");
    const points = (weights) => weights.map((one) => toPoint(one).map((value) => value.toFixed(1)).join(",")).join(" ");
    field.append(svg("polygon", { class: "field", points: CORNERS.map((corner) => corner.join(",")).join(" ") }));
    for (const share of [0.25, 0.5, 0.75]) {
      const rest = 1 - share;
      for (const line of [[[share, rest, 0], [share, 0, rest]], [[rest, share, 0], [0, share, rest]], [[rest, 0, share], [0, rest, share]]]) {
        field.append(svg("polyline", { class: "rule", points: points(line) }));
      }
    }
    for (const weights of Object.values(this.presets)) {
      const [x, y] = toPoint(weights);
      field.append(svg("circle", { class: "preset", cx: x.toFixed(1), cy: y.toFixed(1), r: 2.6 }));
    }
    const follow = (event) => {
      const box = triangle.getBoundingClientRect();
      const scale = Math.max(260 / box.width, 196 / box.height);
      const x = 130 + (event.clientX - box.left - box.width / 2) * scale;
      const y = 98 + (event.clientY - box.top - box.height / 2) * scale;
      this.move(allowed(fromPoint([x, y]), this.minimum));
    };
    triangle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.dragging = true;
      triangle.setPointerCapture(event.pointerId);
      follow(event);
    });
    triangle.addEventListener("pointermove", (event) => this.dragging && follow(event));
    for (const over of ["pointerup", "pointercancel"]) triangle.addEventListener(over, () => { this.dragging = false; });
  }
}
