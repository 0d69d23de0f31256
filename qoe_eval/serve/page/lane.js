// Which of some names held when, as a lane of coloured stretches.
import { css } from "./dom.js";
import { drawCursor, LEFT, prepare, RIGHT } from "./drawing.js";

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
