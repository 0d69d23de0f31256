// Lines over time on a canvas: an area or lines, a grid with round numbers, a cursor. Draws only when told to.
import { css } from "./dom.js";
import { BOTTOM, dot, drawCursor, drawCursorTime, drawLine, drawMarks, drawTimes, LEFT, prepare, RIGHT, stroke, TOP } from "./drawing.js";

// Round numbers from 0 to at least `top`, about `count` of them.
export function ticks(top, count) {
  const rough = top / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999) * power;
  const found = [];
  for (let value = 0; value < top + step * 0.999; value += step) found.push(value);
  return found;
}

export class Plot {
  // lines: [{series, colour: "--token", kind: "area" | "line", edge, opacity, dash, width}], drawn in this order.
  // floor: the axis goes up to at least this; top(from, to): what it must reach; label(value): an axis number.
  constructor(canvas, { lines, floor, top, label, times = false, count = 3 }) {
    Object.assign(this, { canvas, lines, floor, top, label, times, count });
    this.ceiling = floor;
  }

  // view: {from, to, origin, cursor}, ms. Nothing happens while the canvas has no size.
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

  // Grows at once, shrinks only when a lot is free: an axis that breathes cannot be read.
  scaled(view) {
    const wanted = Math.max(this.floor, this.top(view.from, view.to) * 1.08);
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
