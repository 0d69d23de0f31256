// The result of a call, and the list of previous ones.
import { ask } from "./connection.js";
import { colourOf, followsObjective } from "./controllers.js";
import { byId, element, seconds, setText, weightsText } from "./dom.js";
import { keepInStep, recording } from "./recordings.js";

const display = (measure, value) =>
  typeof value === "number" ? digits(measure, shownNumber(measure, value)) : "–";

const digits = ({ decimals }, value) => value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });

// The number that display shows.
const shownNumber = (measure, value) => +(value * measure.scale).toFixed(measure.decimals);

const AGES_MS = 5000;

const ONE_SAMPLE = "One call of each is one sample: two calls under the same controller on the same path can differ as much. Repeat the comparison before you draw conclusions.";

const OUTCOMES = { done: "The call is over", stopped: "The call was stopped", unmeasured: "The call was not measured", failed: "The call failed" };

const fileLink = (path, text, more = {}) =>
  element("a", { href: filePath(path), target: "_blank", rel: "noopener", text, ...more });

let files = "";

// The path of this server below which files of calls are.
export function learnFiles(path) {
  files = path;
}

// A link that saves a file of a call under the name of its folder.
const download = (path, kind, text, more = {}) => {
  const folder = path.split("/").slice(0, -1).join("-");
  return element("a", { href: filePath(path), download: `${folder}-${kind}.json`, text, ...more });
};

// The address of a file of a call.
export const filePath = (path) => files + path.split("/").map(encodeURIComponent).join("/");

// measures: names, labels and units as in the reports.
export function showResult({ status, message, results }, measures) {
  byId("result").hidden = false;
  byId("result-title").textContent = results.length > 1 && status !== "failed" ? OUTCOMES[status].replace("call is", "calls are").replace("call was", "calls were") : OUTCOMES[status] || "The call is over";
  const named = (call, text) => (results.length > 1 ? `${call.controller}: ${text}` : text);
  const notes = results.flatMap((call) => [
    ...(call.stopped ? [named(call, `${call.stopped}: not for averages or comparisons.`)] : []),
    ...call.disturbed.map((reason) => named(call, `Disturbed, not for averages: ${reason}.`))]);
  byId("result-note").textContent = [message, ...notes].filter(Boolean).join(" ");
  byId("results").replaceChildren(...results.map((call, index) => one(call, measures, results.length > 1, index > 0)));
  const isMeasured = results.some((call) => Object.keys(call.metrics).length > 0);
  if (results.length > 1 && isMeasured) byId("results").append(comparison(results, measures));
  keepInStep([...byId("results").querySelectorAll("video")]);
}

// Two calls share one report, which is linked from the first.
function one(call, measures, isNamed, hasOthers) {
  const shown = measures.filter(({ name }) => name in call.metrics);
  return element("div", {}, isNamed ? element("h3", {}, swatch(call.controller), call.controller) : null,
    element("div", { class: "result" },
      call.video ? recording(call, filePath(call.video)) : null,
      isNamed ? null : element("dl", { class: "measures" }, ...shown.map((measure) => element("div", { title: measure.meaning }, element("dt", { text: measure.label }),
        element("dd", {}, display(measure, call.metrics[measure.name]), element("small", { text: ` ${measure.unit}` })))))),
    element("p", { class: "actions" },
      call.report && !hasOthers && fileLink(call.report, isNamed ? "Open the report of both" : "Open the report", { class: "button primary" }),
      call.video && fileLink(call.video, "The recorded video", { class: "button" }),
      download(`${call.folder}/call.json`, "record", "Its record, JSON", { class: "button" }),
      call.path && download(call.path, "path", "Its path, JSON", { class: "button" })));
}

// The measures of two calls with their differences; those of calls of unequal length have none.
function comparison(calls, measures) {
  const [first, second] = calls;
  const isFair = calls.every((call) => !call.failure && !call.stopped);
  const isSure = calls.every((call) => call.disturbed.length === 0);
  const row = (measure) => {
    const { name, label, unit, meaning, better } = measure;
    const [a, b] = [first.metrics[name], second.metrics[name]];
    // The difference of the shown numbers, as the reader would take it.
    const difference = typeof a === "number" && typeof b === "number" ? +(shownNumber(measure, a) - shownNumber(measure, b)).toFixed(measure.decimals) : null;
    const isBetter = better === "higher" ? difference > 0 : difference < 0;
    return element("tr", {}, element("th", { scope: "row", title: meaning }, label, element("small", { text: ` ${unit}` })),
      element("td", { text: display(measure, a) }), element("td", { text: display(measure, b) }),
      isFair && element("td", { class: isSure && difference ? (isBetter ? "good" : "bad") : null, text: signed(measure, difference) }));
  };
  const shown = measures.filter(({ name }) => calls.some((call) => name in call.metrics));
  const heads = calls.map(({ controller }) => element("th", { scope: "col" }, swatch(controller), breakable(controller)));
  return element("div", { class: "scroll compared", tabindex: "0", role: "region", "aria-labelledby": "result-title" },
    element("table", {}, element("thead", {}, element("tr", {}, element("th", { scope: "col", text: "Measure" }), ...heads,
      isFair && element("th", { scope: "col", text: "Difference", title: `${first.controller} less ${second.controller}` }))),
      element("tbody", {}, ...shown.map(row))),
    isFair && element("p", { class: "note", text: ONE_SAMPLE }));
}

function signed(measure, difference) {
  if (difference === null) return "–";
  return (difference > 0 ? "+" : difference < 0 ? "\u2212" : "") + digits(measure, Math.abs(difference));
}

export function hideResult() {
  byId("result").hidden = true;
  byId("results").replaceChildren();
}

export async function showCalls(folder, measures) {
  const { ok, value, errors } = await ask("calls");
  const note = byId("calls-note");
  if (!ok) { note.textContent = errors.join(" "); return; }
  note.textContent = value.length ? `In ${folder}, the newest first.` : `None in ${folder} yet.`;
  byId("calls-table").replaceChildren(...(value.length ? [table(value, measures.filter((measure) => measure.in_list))] : []));
}

setInterval(() => {
  for (const node of byId("calls-table").querySelectorAll("time")) setText(node, when(node.dateTime));
}, AGES_MS);

function table(calls, shown) {
  const head = (text, unit = "", title = null) => element("th", { scope: "col", title }, text, unit ? element("small", { text: unit }) : null);
  const heads = [head("Scenario"), head("Controller"), head("Objective"),
    ...shown.map(({ label, unit, better, meaning }) => head(label, `${unit} ${better === "higher" ? "↑" : "↓"}`, meaning))];
  const row = (call) => element("tr", {},
    element("th", { scope: "row" }, call.scenario, element("small", { class: "links" }, element("time", { datetime: call.finished, text: when(call.finished) }),
      call.report && fileLink(call.report, "report", { "aria-label": `Report: ${call.scenario}, ${call.controller}` }),
      call.video && fileLink(call.video, "video", { "aria-label": `Video: ${call.scenario}, ${call.controller}` }),
      download(`${call.folder}/call.json`, "record", "record", { "aria-label": `Record: ${call.scenario}, ${call.controller}` }),
      call.path && download(call.path, "path", "path", { "aria-label": `Path: ${call.scenario}, ${call.controller}` }),
      call.failure ? element("span", { class: "bad", title: call.failure, text: call.interrupted ? "not measured" : "failed" }) : null,
      call.stopped ? element("span", { class: "bad", title: call.stopped, text: "stopped" }) : null,
      call.disturbed.length ? element("span", { class: "bad", title: call.disturbed.join("; "), text: "disturbed" }) : null)),
    element("td", { class: "text", "data-label": "Controller" }, swatch(call.controller), breakable(call.controller), element("small", { text: call.sender ? ` ${call.sender}` : "" })),
    element("td", { "data-label": "Objective" }, ...objectiveOf(call)),
    ...shown.map((measure) => element("td", { "data-label": `${measure.label} ${measure.unit}`, text: display(measure, call.metrics[measure.name]) })));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": "calls-title" },
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...calls.map(row))));
}

function objectiveOf({ objective, controller, objective_changes: changes }) {
  if (!objective || !followsObjective(controller)) return ["–"];
  const count = changes.length;
  const title = changes.map(([time, weights]) => `${weightsText(weights)} at ${time.toFixed(1)} s`).join(", ");
  return [weightsText(objective), count ? element("small", { title, text: `changed ${count === 1 ? "once" : `${count} times`}` }) : null].filter(Boolean);
}

// The name of a pool breaks between its members, not within a word.
const breakable = (name) => element("span", {}, ...name.split(/(?<=,)/).flatMap((part) => [part, element("wbr")]));

function swatch(controller) {
  const mark = element("span", { class: "swatch" });
  mark.style.setProperty("--colour", `var(${colourOf(controller)}, var(--zero))`);
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
