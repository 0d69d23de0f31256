// The controllers of calls: their names, the members of a pool, and the model of a running call.
import { ask } from "./connection.js";
import { byId, element, setText } from "./dom.js";

// The server's descriptions by name.
const controllers = new Map();

export function learnControllers(described) {
  for (const one of described) controllers.set(one.name, one);
}

export const controllerSummary = (name) => {
  const { summary } = controllers.get(name) || { summary: "" };
  return summary && `${summary[0].toUpperCase()}${summary.slice(1)}.`;
};

// True for a pool specification, such as "pilot=weir copilots=nada fusion=min".
export const isPool = (name) => name.includes("=");

// The name in front of a value of one of two calls; the whole specification of a pool is in the title.
export const shortName = (name) => (isPool(name) ? "pool" : name);

// Escapes names like display.py.
const cssName = (name) => name.replace(/[^A-Za-z0-9_-]/g, "_");

// The CSS variable of a controller's color; Weir's for a pool.
export const colourOf = (name) => `--c-${isPool(name) ? "weir" : cssName(name)}`;

// True if the call runs the model of the controller weir, which can be changed.
export const hasModel = (name) => isPool(name) ? /[=,]weir\b(?!:)/.test(name) : followsObjective(name);

// True if the controller follows an objective.
export const followsObjective = (name) => isPool(name) || Boolean(controllers.get(name)?.follows_objective);

const ROLES = { pilot: "active", copilot: "candidate", watching: "observing" };

export class PoolView {
  // changed(specification): the user changed the pool.
  constructor(changed) {
    this.changed = changed;
    this.known = "";
    byId("pool-change").addEventListener("input", () => setText(byId("pool-refusal"), ""));
    byId("pool-form").addEventListener("submit", (event) => {
      event.preventDefault();
      setText(byId("pool-refusal"), "");
      changed(byId("pool-change").value.trim());
    });
  }

  // pool: the pool of the latest estimate; null for a single controller. over: nothing can be changed any more.
  show(pool, over = false) {
    byId("pool").hidden = !pool;
    this.over = over;
    for (const field of byId("pool-form").elements) field.disabled = over;
    if (!pool) { this.known = ""; return; }
    const changes = pool.pilot_changes;
    setText(byId("pool-note"), `Fusion: ${pool.fusion}. The active controller changed ${changes} time${changes === 1 ? "" : "s"}.`);
    // Do not overwrite the user's input.
    if (pool.line !== this.known && document.activeElement !== byId("pool-change")) {
      byId("pool-change").value = pool.line;
      this.known = pool.line;
    }
    // Rows are reused, so that a button is not replaced under the pointer.
    const body = byId("pool-members");
    while (body.children.length > pool.members.length) body.lastElementChild.remove();
    while (body.children.length < pool.members.length) body.append(this.row());
    pool.members.forEach((member, index) => this.fill(body.children[index], member, pool));
  }

  row() {
    const button = element("button", { type: "button", text: "Activate" });
    return element("tr", {}, element("th", { scope: "row", class: "text" }), element("td", { class: "text" }), element("td"), element("td"), element("td", {}, button));
  }

  fill(row, member, pool) {
    const [name, role, rate, trust, change] = row.children;
    setText(name, member.name);
    setText(role, ROLES[member.role] || member.role);
    setText(rate, member.rate_bps === null ? "–" : Math.round(member.rate_bps / 1000).toLocaleString("en"));
    setText(trust, member.trust.toFixed(2));
    const button = change.firstElementChild;
    button.disabled = this.over || member.role === "pilot";
    button.setAttribute("aria-label", `Activate ${member.name}`);
    button.onclick = () => this.changed(withActive(pool, member.name));
  }
}

// The specification with another active controller; the previous one becomes the first candidate.
function withActive(pool, name) {
  const words = pool.line.split(" ").filter((word) => !word.startsWith("pilot=") && !word.startsWith("copilots="));
  const before = pool.line.match(/pilot=(\S+)/)[1];
  const copilots = [before, ...(pool.line.match(/copilots=(\S+)/)?.[1].split(",") || [])].filter((one) => one !== name);
  return [`pilot=${name}`, ...(copilots.length ? [`copilots=${copilots.join(",")}`] : []), ...words].join(" ");
}

export class ModelChoice {
  // changed(name): the user chose another model.
  constructor(changed) {
    byId("model").addEventListener("change", () => setText(byId("model-refusal"), ""));
    byId("model-form").addEventListener("submit", (event) => {
      event.preventDefault();
      setText(byId("model-refusal"), "");
      changed(byId("model").value);
    });
  }

  // Lists the models when a call with a model begins; used: the one in use.
  async show(hasModel, used) {
    byId("model-form").hidden = true;
    setText(byId("model-refusal"), "");
    this.used = used;
    if (!hasModel) return;
    const { ok, value } = await ask("models");
    if (!ok) return;
    byId("model").replaceChildren(...value.map((name) => element("option", { value: name, text: name })));
    byId("model").value = this.used;
    byId("model-form").hidden = false;
  }

  // The call runs another model.
  use(name) {
    this.used = byId("model").value = name;
    setText(byId("model-refusal"), "");
  }

  // The call keeps its model.
  refuse(text) {
    byId("model").value = this.used;
    setText(byId("model-refusal"), text);
  }

  set over(over) {
    for (const field of byId("model-form").elements) field.disabled = over;
  }
}
