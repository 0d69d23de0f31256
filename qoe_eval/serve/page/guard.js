// What the guard says: the reason of the estimate in force, how often each rule spoke, and what happened in the call.
import { followsObjective } from "./controllers.js";
import { byId, element, percent, setText } from "./dom.js";
import { reasonOf, RULES } from "./reasons.js";

const MOST_EVENTS = 40;
// Reasons change ten times a second; nobody reads that fast.
const VERDICT_MS = 400;

export class GuardView {
  constructor() {
    this.counts = {};
    this.shown = 0;
    byId("rules").replaceChildren();
    for (const [name, text] of Object.entries(RULES)) this.addRule(name, text);
  }

  addRule(name, text) {
    this.counts[name] = element("dd", { text: "0" });
    byId("rules").append(element("div", {}, element("dt", {}, element("b", { text: name }), element("small", { text })), this.counts[name]));
  }

  reset() {
    byId("events").replaceChildren();
    for (const count of Object.values(this.counts)) { count.textContent = "0"; count.classList.remove("spoke"); }
    this.show({ estimate: null, rules: {}, call: {} });
  }

  show(data) {
    if (performance.now() - this.shown > VERDICT_MS || !data.estimate) this.showVerdict(data);
    for (const name of Object.keys(data.rules)) if (!this.counts[name]) this.addRule(name, "");
    for (const [name, node] of Object.entries(this.counts)) {
      const count = String(data.rules[name] || 0);
      if (node.textContent !== count) {
        node.textContent = count;
        node.classList.toggle("spoke", count !== "0");
      }
    }
  }

  showVerdict({ estimate, call }) {
    this.shown = performance.now();
    const reason = estimate ? reasonOf(estimate.reason) : null;
    setText(byId("verdict-name"), reason ? reason.label : followsObjective(call.controller) ? "–" : call.controller);
    const nothing = followsObjective(call.controller) ? "no estimate yet" : "Weir is not asked: the sender's own controller decides";
    setText(byId("verdict-text"), reason ? reason.text + (estimate.in_charge === false ? "; only shown, GCC decides" : "") : nothing);
    byId("verdict-limited").hidden = !(estimate && estimate.application_limited);
    byId("verdict").style.setProperty("--colour", `var(${reason ? reason.colour : "--zero"})`);
  }

  // kind: "state", "note" or "control"; the newest is on top.
  add(kind, seconds, text) {
    const events = byId("events");
    events.prepend(element("li", { "data-kind": kind }, element("time", { text: seconds === null ? "" : `${seconds.toFixed(1)} s` }), element("span", { text })));
    while (events.children.length > MOST_EVENTS) events.lastElementChild.remove();
  }
}

// What a control did, for the list of events; null for what is not worth a line.
export function controlText(event) {
  if (event.action === "objective") {
    const weights = ["throughput", "latency", "loss"].map((name) => percent(event[name]));
    return `objective: throughput ${weights[0]}, latency ${weights[1]}, loss ${weights[2]}`;
  }
  if (event.action === "controller") return `controller: ${event.name}`;
  if (event.action === "model") return `model: ${event.name}`;
  if (event.action === "pool") return `pool: ${event.line}`;
  return null;
}
