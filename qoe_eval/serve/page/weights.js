// Three weights whose sum stays 1 and none of which goes below a minimum. Order: throughput, latency, loss.

export const NAMES = ["throughput", "latency", "loss"];

// The nearest allowed weights: those below the minimum are put there, the others share what is left as they did.
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

// One weight moved; the other two keep their proportion as far as the minimum lets them.
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

// Whole percents whose sum is 100: what people read.
export function percents(weights) {
  const shown = weights.map((weight) => Math.round(100 * weight));
  const over = shown[0] + shown[1] + shown[2] - 100;
  if (over !== 0) {
    const largest = shown.indexOf(Math.max(...shown));
    shown[largest] -= over;
  }
  return shown;
}

export const same = (a, b) => a.every((weight, index) => Math.abs(weight - b[index]) < 0.005);

// The triangle's corners in its own picture, in the order of the weights.
export const CORNERS = [[130, 20], [26, 176], [234, 176]];

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
