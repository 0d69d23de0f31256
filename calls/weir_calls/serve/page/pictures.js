// The received picture of each running call, and a small one of the sender's camera.
import { shortName } from "./controllers.js";
import { byId, element } from "./dom.js";

const INTERVAL_MS = 200;
// Longer than two frames at the lowest usual rate, and than the interval of requests.
const FROZEN_MS = 400;

function picture(label, caption) {
  const canvas = element("canvas", { role: "img", "aria-label": label });
  return element("figure", { hidden: true }, canvas, element("figcaption", {}, caption, element("b", { hidden: true, text: "frozen" })));
}

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
    const figures = call.controllers.map((name) => picture(`The received picture under ${name}`, shortName(name)));
    const source = picture("The picture that is sent", "sent now");
    source.className = "source";
    place.replaceChildren(...figures, source);
    figures.forEach((figure, lane) => this.follow(call, figure, lane));
    this.follow(call, source, "source");
  }

  async follow(call, figure, name) {
    while (this.call === call) {
      if (!document.hidden) await this.fetch(figure, name).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    }
  }

  async fetch(figure, name) {
    const answer = await fetch(`picture/${name}`);
    const mark = figure.querySelector("b");
    if (answer.status !== 200) {
      // There is nothing to send while the second call begins.
      if (name === "source") { figure.hidden = true; return; }
      // A call whose picture was shown has ended.
      figure.classList.remove("frozen");
      mark.textContent = "ended";
      mark.hidden = false;
      return;
    }
    mark.textContent = "frozen";
    const picture = await createImageBitmap(await answer.blob());
    const canvas = figure.querySelector("canvas");
    Object.assign(canvas, { width: picture.width, height: picture.height });
    canvas.getContext("2d").drawImage(picture, 0, 0);
    const frozen = Number(answer.headers.get("X-Age-Ms")) > FROZEN_MS;
    figure.classList.toggle("frozen", frozen);
    mark.hidden = !frozen;
    figure.hidden = false;
  }
}
