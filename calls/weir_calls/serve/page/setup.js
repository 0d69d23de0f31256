// The settings before a call: scenario, controller, sender, duration, picture size.
import { controllerSummary, isPool } from "./controllers.js";
import { byId, element, setText } from "./dom.js";
import { factsOf, Preview, range, smallSketch } from "./sketch.js";

export const SENDERS = { chromium: "Chromium", native: "weir-peer" };
const REMEMBERED = "weir.serve.choice";
const LONGEST_DEFAULT_S = 60;
// With fewer cores, encoding the larger picture may disturb the call.
const ENOUGH_CORES = 4;

export class Setup {
  // changed(): the user chose something else; submitted(): the start button.
  constructor(setup, changed, submitted) {
    this.setup = { ...setup, controllers: setup.controllers.map(({ name }) => name) };
    this.changed = changed;
    this.byName = new Map(setup.scenarios.map((scenario) => [scenario.name, scenario]));
    this.preview = new Preview(byId("preview-plot"));
    this.choice = this.remembered();
    this.buildScenarios();
    this.buildSegments("controllers", "controller", this.setup.controllers, (name) => name);
    this.buildSegments("beside", "beside", ["", ...setup.beside], (name) => name || "none");
    this.buildSegments("senders", "sender", setup.senders, (name) => SENDERS[name] || name);
    byId("size").replaceChildren(...setup.sizes.map((size) => element("option", { value: size, text: size.replace("x", " × ") })));
    byId("size").value = this.choice.size;
    const duration = byId("duration");
    [duration.min, duration.max] = setup.duration_s;
    byId("size").addEventListener("change", () => this.choose("size", byId("size").value));
    duration.addEventListener("input", () => {
      if (!this.isDurationValid) return;
      this.choice.duration = duration.valueAsNumber;
      this.remember();
    });
    // Shows an error only while its field has it.
    byId("setup").addEventListener("input", () => { this.showPool(); this.checkDuration(); });
    byId("pool-line").addEventListener("change", () => { if (this.checkPool()) this.changed(); });
    // A specification that is in effect stays in view.
    byId("pool-choice").addEventListener("toggle", () => { if (byId("pool-line").value.trim()) byId("pool-choice").open = true; });
    byId("find").addEventListener("input", () => this.find());
    byId("find").addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
    byId("setup").addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.checkDuration()) duration.focus();
      else if (!this.checkPool()) byId("pool-line").focus();
      else submitted();
    });
    this.showChoice();
  }

  get scenario() {
    return this.byName.get(this.choice.scenario);
  }

  // The specification of the pool, if there is one, or the chosen controller.
  get controller() {
    const line = byId("pool-line").value.trim();
    return isPool(line) ? line : this.choice.controller;
  }

  // The request for the server, without the objective.
  get request() {
    const { scenario, sender, size, beside } = this.choice;
    return { scenario, sender, controller: this.controller, beside, size, duration_s: byId("duration").valueAsNumber };
  }

  remembered() {
    const [own] = this.setup.own;
    const first = { scenario: own || (this.byName.has("step-down-up") ? "step-down-up" : this.setup.scenarios[0].name), own,
      controller: this.setup.controllers[0], beside: this.setup.beside[0], sender: this.setup.senders[0], size: this.setup.sizes.at(navigator.hardwareConcurrency >= ENOUGH_CORES ? 0 : -1) };
    try {
      const kept = JSON.parse(localStorage.getItem(REMEMBERED)) || {};
      // A newly named file takes precedence over an earlier choice.
      if (this.byName.has(kept.scenario) && kept.own === own) first.scenario = kept.scenario;
      for (const [name, known] of [["controller", "controllers"], ["sender", "senders"], ["size", "sizes"]]) {
        if (this.setup[known].includes(kept[name])) first[name] = kept[name];
      }
      const [shortest, longest] = this.setup.duration_s;
      if (kept.own === own && kept.duration >= shortest && kept.duration <= longest) first.duration = kept.duration;
      if (["", ...this.setup.beside].includes(kept.beside)) first.beside = kept.beside;
    } catch { /* Storage may be disabled or invalid: use the defaults. */ }
    return first;
  }

  choose(name, value) {
    this.choice[name] = value;
    this.remember();
    this.showChoice();
    this.changed();
  }

  remember() {
    try { localStorage.setItem(REMEMBERED, JSON.stringify(this.choice)); } catch { /* see above */ }
  }

  showChoice() {
    const { scenario } = this;
    this.showPool();
    this.showPath(scenario);
    byId("duration").value = String(this.choice.duration ?? Math.max(this.setup.duration_s[0], Math.min(LONGEST_DEFAULT_S, Math.round(scenario.duration_s))));
    this.checkDuration();
  }

  // With a pool, no single controller is chosen.
  showPool() {
    const hasPool = byId("pool-line").value.trim() !== "";
    byId("controllers").closest("fieldset").disabled = hasPool;
    setText(byId("controller-note"), hasPool ? "The pool below is used. Empty its field to choose one controller." : controllerSummary(this.choice.controller));
  }

  // Shows the path of a scenario, its facts, and a link to its file.
  showPath(scenario) {
    setText(byId("preview-title"), scenario.name);
    setText(byId("preview-what"), scenario.description);
    byId("facts").replaceChildren(...factsOf(scenario));
    byId("preview-file").href = `scenario/${encodeURIComponent(scenario.name)}`;
    byId("preview-file").download = `${scenario.name}.json`;
    this.preview.show(scenario);
  }

  get isDurationValid() {
    const duration = byId("duration");
    return duration.validity.valid && Number.isFinite(duration.valueAsNumber);
  }

  checkPool() {
    const line = byId("pool-line").value.trim();
    const right = line === "" || isPool(line);
    if (!right) setText(byId("refusal"), `Pool: a specification such as "${byId("pool-line").placeholder}", not "${line}".`);
    return right;
  }

  checkDuration() {
    const duration = byId("duration");
    const right = this.isDurationValid;
    duration.setAttribute("aria-invalid", String(!right));
    setText(byId("refusal"), right ? "" : `Duration: a whole number of seconds, ${duration.min} to ${duration.max}.`);
    return right;
  }

  // --- the list -----------------------------------------------------------------------------------------------------------

  buildScenarios() {
    let group = null;
    const rows = [];
    for (const scenario of this.setup.scenarios) {
      if (scenario.group !== group) {
        group = scenario.group;
        rows.push(element("p", { class: "group", text: group, "aria-hidden": "true" }));
      }
      const chosen = scenario.name === this.choice.scenario;
      const input = element("input", { type: "radio", name: "scenario", value: scenario.name, checked: chosen, class: "unseen" });
      input.addEventListener("change", () => this.choose("scenario", scenario.name));
      rows.push(element("label", { class: "scenario", title: scenario.description }, input,
        element("span", { class: "about" }, element("b", { text: scenario.name }), element("small", { text: `${range(scenario)}` })),
        smallSketch(scenario)));
    }
    byId("scenarios").replaceChildren(...rows);
    // scrollIntoView would also scroll the page. The previous row stays visible.
    const row = byId("scenarios").querySelector("input:checked").parentElement;
    byId("scenarios").scrollTop = row.previousElementSibling.offsetTop - 2;
  }

  find() {
    const wanted = byId("find").value.trim().toLowerCase();
    let seen = 0;
    for (const row of byId("scenarios").querySelectorAll(".scenario")) {
      const scenario = this.byName.get(row.querySelector("input").value);
      row.hidden = !`${scenario.name} ${scenario.description}`.toLowerCase().includes(wanted);
      seen += row.hidden ? 0 : 1;
    }
    for (const heading of byId("scenarios").querySelectorAll(".group")) heading.hidden = wanted !== "";
    byId("none-found").hidden = seen > 0;
  }

  buildSegments(id, name, values, label) {
    byId(id).replaceChildren(...values.map((value) => {
      const input = element("input", { type: "radio", name, value, checked: value === this.choice[name], class: "unseen" });
      input.addEventListener("change", () => this.choose(name, value));
      return element("label", {}, input, element("span", { text: label(value) }));
    }));
  }
}
