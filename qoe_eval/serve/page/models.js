// The models that a call may change to while it runs, as the server lists them.
import { ask } from "./connection.js";
import { byId, element } from "./dom.js";

export class ModelChoice {
  // changed(name): a person wants this model to decide.
  constructor(changed) {
    byId("model-form").addEventListener("submit", (event) => {
      event.preventDefault();
      changed(byId("model").value);
    });
  }

  // Looks up what there is when a call begins whose controller has a model.
  async show(hasModel) {
    byId("model-form").hidden = true;
    if (!hasModel) return;
    const { ok, value } = await ask("/models");
    if (!ok) return;
    byId("model").replaceChildren(...value.map((name) => element("option", { value: name, text: name })));
    byId("model-form").hidden = false;
  }
}
