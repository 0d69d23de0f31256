// Plots over time on a canvas: lines and areas with a grid, or a lane of colored intervals, and a cursor.
import { css } from "./dom.js";

// Margins in CSS pixels, equal for all plots so that their time axes align.
const LEFT = 46, RIGHT = 10, TOP = 8, BOTTOM = 18;

function prepare(canvas) {
  const width = canvas.clientWidth, height = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
  if (width === 0 || height === 0) return null;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
  pen.lineWidth = 1;
  pen.width = width;
  pen.height = height;
  return pen;
}

function drawTimes(pen, view, x, height, labelled, top, bottom) {
  const span = (view.to - view.from) / 1000;
  const step = [1, 2, 5, 10, 15, 20, 30, 60, 120].find((each) => (span / each) * 46 <= pen.width) || 300;
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  const first = Math.ceil(view.from / 1000 / step) * step;
  for (let second = first; second * 1000 <= view.to + 1; second += step) {
    const place = x(second * 1000);
    pen.strokeStyle = css("--grid");
    stroke(pen, place, top, place, bottom);
    if (!labelled) continue;
    pen.fillStyle = css("--muted");
    const text = `${second} s`, half = pen.measureText(text).width / 2;
    pen.fillText(text, Math.min(place, pen.width - half - 1), height - 4);
  }
}

function drawLine(pen, line, view, x, y, bottom) {
  const { series } = line;
  const colour = css(line.colour);
  const first = Math.max(0, series.indexAt(view.from));
  pen.fillStyle = colour;
  pen.strokeStyle = line.edge ? css(line.edge) : colour;
  pen.lineWidth = line.width || 1.8;
  pen.lineJoin = "round";
  pen.setLineDash(line.dash || []);
  let path = new Path2D(), start = null, previous = null;
  const finish = () => {
    if (start === null) return;
    if (line.kind === "area") {
      const area = new Path2D(path);
      area.lineTo(x(previous), bottom);
      area.lineTo(x(start), bottom);
      pen.globalAlpha = line.opacity || 0.35;
      pen.fill(area);
      pen.globalAlpha = 1;
    }
    pen.stroke(path);
  };
  for (let index = first; index < series.times.length; index++) {
    const time = series.times[index], value = series.values[index];
    const gap = start !== null && time - previous > series.gap;
    if (value === null || gap) {
      finish();
      path = new Path2D();
      start = null;
      if (value === null) continue;
    }
    if (start === null) { path.moveTo(x(time), y(value)); start = time; }
    else {
      // Areas have steps, lines have slopes.
      if (line.kind === "area") path.lineTo(x(time), y(series.values[index - 1]));
      path.lineTo(x(time), y(value));
    }
    previous = time;
    if (time > view.to) break;
  }
  finish();
  pen.setLineDash([]);
}

// Changes by the user: a dashed line at the start, a bar on top for the length of the drag.
function drawMarks(pen, view, x, top, bottom) {
  pen.strokeStyle = pen.fillStyle = css("--ink");
  pen.lineWidth = 1;
  for (const mark of view.marks || []) {
    pen.globalAlpha = 0.55;
    pen.setLineDash([2, 3]);
    stroke(pen, x(mark.time), top, x(mark.time), bottom);
    pen.setLineDash([]);
    pen.fillRect(x(mark.time) - 1, top - 3, Math.max(3, x(mark.until) - x(mark.time) + 3), 3);
  }
  pen.globalAlpha = 1;
}

function drawCursor(pen, view, x, top, bottom) {
  if (view.cursor === null) return;
  pen.strokeStyle = css("--ink");
  pen.lineWidth = 1;
  stroke(pen, x(view.cursor), top, x(view.cursor), bottom);
}

function drawCursorTime(pen, view, x, height) {
  const text = `${(view.cursor / 1000).toFixed(1)} s`;
  const half = pen.measureText(text).width / 2 + 7;
  const place = Math.min(pen.width - half, Math.max(half, x(view.cursor)));
  pen.fillStyle = css("--ink");
  pen.beginPath();
  pen.roundRect(place - half, height - BOTTOM + 1, 2 * half, BOTTOM - 1, 5);
  pen.fill();
  pen.fillStyle = css("--card");
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  pen.fillText(text, place, height - 4);
}

function dot(pen, x, y, colour) {
  pen.beginPath();
  pen.arc(x, y, 4, 0, 2 * Math.PI);
  pen.fillStyle = colour;
  pen.fill();
  pen.strokeStyle = css("--card");
  pen.lineWidth = 1.5;
  pen.stroke();
}

function stroke(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  pen.lineTo(Math.round(x2) + 0.5, Math.round(y2) + 0.5);
  pen.stroke();
}

// Round numbers from 0 to at least `top`, about `count` of them.
function ticks(top, count) {
  const rough = top / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999) * power;
  const found = [];
  for (let value = 0; value < top + step * 0.99; value += step) found.push(value);
  return found;
}

export class Plot {
  // lines: [{series, colour: "--token", kind: "area" | "line", edge, opacity, dash, width}], drawn in this order.
  // floor, limit: smallest and largest end of the axis; top(from, to): the value it must reach; label(value): text of an axis number.
  constructor(canvas, { lines, floor, top, label, limit = Infinity, times = false, count = 3 }) {
    Object.assign(this, { canvas, lines, floor, top, label, limit, times, count });
    this.ceiling = floor;
  }

  // view: {from, to, cursor}, ms. Does nothing while the canvas has no size.
  draw(view) {
    const pen = prepare(this.canvas);
    if (!pen) return;
    const { width, height } = pen;
    const bottom = height - (this.times ? BOTTOM : 6);
    const x = (time) => LEFT + ((time - view.from) / (view.to - view.from)) * (width - LEFT - RIGHT);
    const marks = ticks(this.scaled(view), this.count);
    const top = marks[marks.length - 1];
    const y = (value) => bottom - (Math.min(value, top * 1.02) / top) * (bottom - TOP);
    this.drawGrid(pen, marks, y, width);
    drawTimes(pen, view, x, height, this.times, TOP, bottom);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, 0, width - LEFT - RIGHT, bottom + 1);
    pen.clip();
    for (const line of this.lines) drawLine(pen, line, view, x, y, bottom);
    drawMarks(pen, view, x, TOP, bottom);
    pen.restore();
    drawCursor(pen, view, x, TOP, bottom);
    if (view.cursor !== null) {
      if (this.times) drawCursorTime(pen, view, x, height);
      for (const line of this.lines) {
        const value = line.kind === "line" ? line.series.at(view.cursor) : null;
        if (value !== null) dot(pen, x(view.cursor), y(value), css(line.colour));
      }
    }
  }

  // Grows immediately, and shrinks only after a large change, so that the axis stays readable.
  scaled(view) {
    const wanted = Math.min(this.limit, Math.max(this.floor, this.top(view.from, view.to) * 1.08));
    if (wanted > this.ceiling || wanted < this.ceiling * 0.55) this.ceiling = wanted;
    return this.ceiling;
  }

  drawGrid(pen, marks, y, width) {
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const mark of marks) {
      pen.strokeStyle = css(mark === 0 ? "--line" : "--grid");
      stroke(pen, LEFT, y(mark), width - RIGHT, y(mark));
      pen.fillStyle = css("--muted");
      pen.fillText(this.label(mark), LEFT - 7, y(mark));
    }
  }
}

// The time under a pointer; the plots' left and right edges are the same everywhere.
export function timeAt(canvas, clientX, view) {
  const box = canvas.getBoundingClientRect();
  const share = (clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
  return view.from + Math.min(1, Math.max(0, share)) * (view.to - view.from);
}

// names(value): {colour: "--token", label}.
export class Lane {
  constructor(canvas, series, names) {
    Object.assign(this, { canvas, series, names });
  }

  draw(view) {
    const pen = prepare(this.canvas);
    if (!pen) return;
    const { width, height } = pen;
    const x = (time) => LEFT + ((time - view.from) / (view.to - view.from)) * (width - LEFT - RIGHT);
    pen.fillStyle = css("--grid");
    pen.fillRect(LEFT, 2, width - LEFT - RIGHT, height - 4);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, 0, width - LEFT - RIGHT, height);
    pen.clip();
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    const { times, values, gap } = this.series;
    for (let index = Math.max(0, this.series.indexAt(view.from)); index < times.length; index++) {
      const start = times[index];
      while (index + 1 < times.length && values[index + 1] === values[index] && times[index + 1] - times[index] <= gap) index++;
      const next = index + 1 < times.length ? times[index + 1] : view.now;
      const from = Math.max(x(start), LEFT), to = x(Math.min(next, times[index] + gap));
      const name = this.names(values[index]);
      pen.fillStyle = css(name.colour);
      pen.fillRect(from, 2, Math.max(1.2, to - from), height - 4);
      if (to - from > pen.measureText(name.label).width + 14) {
        pen.fillStyle = css("--card");
        pen.fillText(name.label, from + 7, height / 2 + 0.5);
      }
    }
    pen.restore();
    drawCursor(pen, view, x, 0, height);
  }
}
