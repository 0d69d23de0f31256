// What plots are made of: a pen for a canvas, lines, times, marks and a cursor.
import { css } from "./dom.js";

// Margins in CSS pixels, the same for all plots that stand under each other.
export const LEFT = 46, RIGHT = 10, TOP = 8, BOTTOM = 18;

export function prepare(canvas) {
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

export function drawTimes(pen, view, x, height, labelled, top, bottom) {
  const span = (view.to - view.from) / 1000;
  const step = [1, 2, 5, 10, 15, 20, 30, 60, 120].find((each) => (span / each) * 46 <= pen.width) || 300;
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  const first = Math.ceil((view.from - view.origin) / 1000 / step) * step;
  for (let second = first; second * 1000 + view.origin <= view.to + 1; second += step) {
    const place = x(view.origin + second * 1000);
    pen.strokeStyle = css("--grid");
    stroke(pen, place, top, place, bottom);
    if (!labelled) continue;
    pen.fillStyle = css("--muted");
    const text = `${second} s`, half = pen.measureText(text).width / 2;
    pen.fillText(text, Math.min(place, pen.width - half - 1), height - 4);
  }
}

export function drawLine(pen, line, view, x, y, bottom) {
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
    const hole = start !== null && time - previous > series.gap;
    if (value === null || hole) {
      finish();
      path = new Path2D();
      start = null;
      if (value === null) continue;
    }
    if (start === null) { path.moveTo(x(time), y(value)); start = time; }
    else {
      // What holds until it changes has steps; what is measured has slopes.
      if (line.kind === "area") path.lineTo(x(time), y(series.values[index - 1]));
      path.lineTo(x(time), y(value));
    }
    previous = time;
    if (time > view.to) break;
  }
  finish();
  pen.setLineDash([]);
}

// What a person changed: a dashed line where it began, a stretch on top for as long as it was dragged.
export function drawMarks(pen, view, x, top, bottom) {
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

export function drawCursor(pen, view, x, top, bottom) {
  if (view.cursor === null) return;
  pen.strokeStyle = css("--ink");
  pen.lineWidth = 1;
  stroke(pen, x(view.cursor), top, x(view.cursor), bottom);
}

export function drawCursorTime(pen, view, x, height) {
  const text = `${((view.cursor - view.origin) / 1000).toFixed(1)} s`;
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

export function dot(pen, x, y, colour) {
  pen.beginPath();
  pen.arc(x, y, 4, 0, 2 * Math.PI);
  pen.fillStyle = colour;
  pen.fill();
  pen.strokeStyle = css("--card");
  pen.lineWidth = 1.5;
  pen.stroke();
}

export function stroke(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  pen.lineTo(Math.round(x2) + 0.5, Math.round(y2) + 0.5);
  pen.stroke();
}
