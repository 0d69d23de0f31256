// The received picture of each running call, beside the plots.
import { byId, element } from "./dom.js";

const INTERVAL_MS = 200;
// Longer than two frames at the lowest usual rate, and than the time between two questions.
const FROZEN_MS = 400;

export class Pictures {
  constructor() {
    this.call = null;
  }

  // The running call; null: none.
  show(call) {
    const place = byId("pictures");
    place.hidden = call === null;
    if (call === null || (this.call && this.call.number === call.number)) {
      this.call = call && this.call;
      return;
    }
    this.call = call;
    const figures = call.controllers.map((name) => element("figure", { hidden: true },
      element("canvas", { role: "img", "aria-label": `The received picture under ${name}` }), element("figcaption", {}, name, element("b", { hidden: true, text: "frozen" }))));
    place.replaceChildren(...figures);
    figures.forEach((figure, lane) => this.follow(call, figure, lane));
  }

  async follow(call, figure, lane) {
    while (this.call === call) {
      if (!document.hidden) await this.fetch(figure, lane).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    }
  }

  async fetch(figure, lane) {
    const answer = await fetch(`/picture/${lane}`);
    if (answer.status !== 200) return;
    const picture = await createImageBitmap(await answer.blob());
    const canvas = figure.querySelector("canvas");
    Object.assign(canvas, { width: picture.width, height: picture.height });
    canvas.getContext("2d").drawImage(picture, 0, 0);
    const frozen = Number(answer.headers.get("X-Age-Ms")) > FROZEN_MS;
    figure.classList.toggle("frozen", frozen);
    figure.querySelector("b").hidden = !frozen;
    figure.hidden = false;
  }
}
