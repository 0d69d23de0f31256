// The reason of the latest estimate, the interventions of each guard rule, and the events of the call.
import { followsObjective } from "./controllers.js";
import { byId, element, setText, weightsText } from "./dom.js";

// Each has its own color: the strip of reasons has no other sign.
const REASONS = {
  start: { label: "start rate", colour: "--zero", text: "no controller has decided yet" },
  controller: { label: "controller", colour: "--series-1", text: "the active controller's target" },
  candidate: { label: "candidate", colour: "--series-5", text: "fusion chose the target of another controller" },
  fallback: { label: "fallback", colour: "--series-4", text: "the policy is suspended; the rule-based controller decides" },
  held: { label: "held", colour: "--series-7", text: "the policy failed; the last target stays" },
  guard_finite: { label: "guard: finite", colour: "--series-12", text: "the target was not a usable number; the last one stays" },
  guard_starve: { label: "guard: starve", colour: "--series-17", text: "the policy kept the rate at the minimum on a free path" },
  guard_floor: { label: "guard: floor", colour: "--series-11", text: "there is no queue, and the target is below the received rate" },
  guard_bounds: { label: "guard: bounds", colour: "--series-10", text: "the target was outside the bounds of the call" },
  guard_slew: { label: "guard: slew", colour: "--series-3", text: "the target rises faster than the received rate allows" },
  guard_stale: { label: "guard: stale", colour: "--series-2", text: "no packets arrive; the target halves every second" },
  guard_veto: { label: "guard: veto", colour: "--series-9", text: "a queue or loss persists; the target stays below the received rate" },
  guard_policer: { label: "guard: policer", colour: "--series-15", text: "a policer drops what is above its rate; the target stays below it" },
  guard_overload: { label: "guard: overload", colour: "--series-8", text: "loss or a delay persists; the target falls to see whether it ends" },
  guard_ecn: { label: "guard: ecn", colour: "--series-14", text: "an L4S queue marks packets; the target yields to its marks" },
  guard_omission: { label: "guard: omission", colour: "--series-16", text: "loss does not depend on the rate; feedback leaves it out" },
  guard_yield: { label: "guard: yield", colour: "--series-13", text: "a queue of a few packets drops packets; the target falls to leave others a share" },
};

// Guard rules without a text above are shown by name.
export function reasonOf(name) {
  const rule = /^guard_(\w+)$/.exec(name);
  return REASONS[name] || { label: rule ? `guard: ${rule[1]}` : String(name), colour: rule ? "--series-6" : "--zero", text: "" };
}

const MOST_EVENTS = 200;
// Reasons change ten times per second, too fast to read.
const VERDICT_MS = 400;

export class GuardView {
  constructor() {
    this.counts = {};
    this.shown = 0;
    byId("rules").replaceChildren();
    for (const [name, { text }] of Object.entries(REASONS)) if (name.startsWith("guard_")) this.addRule(name.slice(6), text);
  }

  addRule(name, text) {
    this.counts[name] = element("dd", { text: "0" });
    byId("rules").append(element("div", {}, element("dt", {}, element("b", { text: name }), element("small", { text })), this.counts[name]));
  }

  // Shows a new call.
  reset(data) {
    byId("events").replaceChildren();
    for (const count of Object.values(this.counts)) { count.textContent = "0"; count.classList.remove("active"); }
    this.showVerdict(data);
  }

  show(data) {
    clearTimeout(this.waiting);
    const wait = this.shown + VERDICT_MS - performance.now();
    if (wait <= 0 || !data.estimate) this.showVerdict(data);
    else this.waiting = setTimeout(() => this.showVerdict(data), wait);
    for (const name of Object.keys(data.rules)) if (!this.counts[name]) this.addRule(name, "");
    for (const [name, node] of Object.entries(this.counts)) {
      const count = String(data.rules[name] || 0);
      if (node.textContent !== count) {
        node.textContent = count;
        node.classList.toggle("active", count !== "0");
      }
    }
  }

  showVerdict({ estimate, controller }) {
    clearTimeout(this.waiting);
    this.shown = performance.now();
    const reason = estimate ? reasonOf(estimate.reason) : null;
    setText(byId("verdict-name"), reason ? reason.label : followsObjective(controller) ? "–" : controller);
    const nothing = followsObjective(controller) ? "no estimate yet" : "Weir is not active: the sender's controller decides";
    setText(byId("verdict-text"), reason ? reason.text + (estimate.in_charge === false ? "; for display only, GCC is in charge" : "") : nothing);
    byId("verdict-limited").hidden = !(estimate && estimate.application_limited);
    byId("verdict").style.setProperty("--colour", `var(${reason ? reason.colour : "--zero"})`);
  }

  // Adds an event on top; kind: "state", "note" or "control".
  add(kind, seconds, text) {
    const events = byId("events");
    events.prepend(element("li", { "data-kind": kind }, element("time", { text: seconds === null ? "" : `${seconds.toFixed(1)} s` }), element("span", { text })));
    while (events.children.length > MOST_EVENTS) events.lastElementChild.remove();
  }
}

// Describes a change for the list of events; null for none.
export function controlText(event) {
  if (event.action === "objective") {
    return `objective: ${weightsText(["throughput", "latency", "loss"].map((name) => event[name]))}`;
  }
  if (event.action === "model") return `model: ${event.name}`;
  if (event.action === "pool") return `pool: ${event.line}`;
  return null;
}
