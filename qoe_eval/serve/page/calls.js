// The result of a call, and the list of previous ones.
import { ask } from "./connection.js";
import { cssName, followsObjective, isPool } from "./controllers.js";
import { byId, element, seconds } from "./dom.js";

const display = (measure, value) =>
  typeof value === "number" ? (value * measure.scale).toLocaleString("en", { minimumFractionDigits: measure.decimals, maximumFractionDigits: measure.decimals }) : "–";

const OUTCOMES = { done: "The call is over", stopped: "The call was stopped", failed: "The call failed" };

const fileLink = (path, text, more = {}) =>
  element("a", { href: `/calls/${path.split("/").map(encodeURIComponent).join("/")}`, target: "_blank", rel: "noopener", text, ...more });

// measures: names, labels and units as in the reports.
export function showResult(call, measures) {
  const { result } = call;
  byId("result").hidden = false;
  byId("result-title").textContent = OUTCOMES[call.status] || "The call is over";
  const notes = [call.message, ...(result ? result.disturbed.map((reason) => `Disturbed, not for averages: ${reason}.`) : [])];
  byId("result-note").textContent = notes.filter(Boolean).join(" ");
  const video = byId("video");
  video.hidden = !(result && result.video);
  if (video.hidden) video.removeAttribute("src");
  else video.src = `/calls/${result.video.split("/").map(encodeURIComponent).join("/")}`;
  byId("measures").replaceChildren(...measures.filter(({ name }) => result && name in result.metrics).map((measure) =>
    element("div", { title: measure.meaning }, element("dt", { text: measure.label }),
      element("dd", {}, display(measure, result.metrics[measure.name]), element("small", { text: ` ${measure.unit}` })))));
  byId("result-links").replaceChildren(...(result ? [
    result.report && fileLink(result.report, "Open the report", { class: "button primary" }),
    result.video && fileLink(result.video, "The recorded video", { class: "button" }),
    fileLink(`${result.folder}/call.json`, "Its record", { class: "button" }),
  ].filter(Boolean) : []));
}

export function hideResult() {
  byId("result").hidden = true;
  byId("video").removeAttribute("src");
  byId("video").load();
}

export async function showCalls(folder, measures) {
  const { ok, value, errors } = await ask("/calls");
  const note = byId("calls-note");
  if (!ok) { note.textContent = errors.join(" "); return; }
  note.textContent = value.length ? `In ${folder}, the newest first.` : `None in ${folder} yet.`;
  byId("calls-table").replaceChildren(...(value.length ? [table(value, measures.filter((measure) => measure.in_list))] : []));
}

function table(calls, shown) {
  const head = (text, unit = "", title = null) => element("th", { scope: "col", title }, text, unit ? element("small", { text: unit }) : null);
  const heads = [head("Scenario"), head("Controller"), head("Objective"),
    ...shown.map(({ label, unit, better, meaning }) => head(label, `${unit} ${better === "higher" ? "↑" : "↓"}`, meaning))];
  const row = (call) => element("tr", {},
    element("th", { scope: "row" }, call.scenario, element("small", { class: "links" }, when(call.finished),
      call.report && fileLink(call.report, "report", { "aria-label": `Report: ${call.scenario}, ${call.controller}` }),
      call.video && fileLink(call.video, "video", { "aria-label": `Video: ${call.scenario}, ${call.controller}` }),
      call.failure ? element("span", { class: "bad", title: call.failure, text: "failed" }) : null,
      call.disturbed.length ? element("span", { class: "bad", title: call.disturbed.join("; "), text: "disturbed" }) : null)),
    element("td", { class: "text", "data-label": "Controller" }, swatch(call.controller), call.controller, element("small", { text: call.sender ? ` ${call.sender}` : "" })),
    element("td", { "data-label": "Objective", text: call.objective && followsObjective(call.controller) ? call.objective.map((weight) => +weight.toFixed(2)).join(" · ") : "–" }),
    ...shown.map((measure) => element("td", { "data-label": `${measure.label} ${measure.unit}`, text: display(measure, call.metrics[measure.name]) })));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": "calls-title" },
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...calls.map(row))));
}

function swatch(controller) {
  const mark = element("span", { class: "swatch" });
  mark.style.setProperty("--colour", `var(--c-${isPool(controller) ? "weir" : cssName(controller)}, var(--zero))`);
  return mark;
}

function when(text) {
  const time = new Date(text);
  const ago = (Date.now() - time) / 1000;
  if (!Number.isFinite(ago)) return "";
  if (ago < 90) return `${seconds(ago)} ago`;
  if (ago < 5400) return `${Math.round(ago / 60)} min ago`;
  return time.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}
