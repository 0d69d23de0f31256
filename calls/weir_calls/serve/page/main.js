// The page: forwards the server's events to the views, and the user's actions to the server.
import { CallData } from "./call_data.js";
import { filePath, hideResult, learnFiles, showCalls, showResult } from "./calls.js";
import { ask, Connection } from "./connection.js";
import { followsObjective, hasModel, learnControllers, ModelChoice, PoolView, shortName } from "./controllers.js";
import { byId, element, seconds, setText } from "./dom.js";
import { controlText, GuardView } from "./guard.js";
import { Live } from "./live.js";
import { Objective } from "./objective.js";
import { Pictures } from "./pictures.js";
import { SENDERS, Setup } from "./setup.js";
import { fillSketch, setProgress } from "./sketch.js";

const LINK_DOWN_S = 5;

const layout = document.querySelector(".layout");
// Where a refused change is explained; other changes: beside the buttons of the call.
const REFUSALS = { model: (text) => models.refuse(text), pool: (text) => setText(byId("pool-refusal"), text) };

let connection = null, setup = null, objective = null, live = null, guard = null, pool = null, models = null, pictures = null;
// lanes: the data of each call of a request; decided: those of the call that the page follows, see `follow`.
let call = null, lanes = [], decided = null, latest = 0, folder = "", measures = [], connected = false, isReplaced = false, lacking = false, largestLag = 0;

async function begin() {
  const { ok, value, errors } = await ask("setup");
  if (!ok) { setText(byId("status-text"), errors.join(" ")); return; }
  ({ folder, measures, largest_link_lag_ms: largestLag } = value);
  learnControllers(value.controllers);
  learnFiles(value.files);
  objective = new Objective(value.presets, value.minimum_weight, steer);
  setup = new Setup(value, chosen, startCall);
  live = new Live();
  guard = new GuardView();
  pictures = new Pictures();
  pool = new PoolView((line) => connection.send({ type: "pool", line }));
  models = new ModelChoice((name) => connection.send({ type: "model", name }));
  byId("stop").addEventListener("click", () => {
    if (connection.send({ type: "stop" })) stopAsked = stoppable();
    showStop();
  });
  byId("last-result").addEventListener("click", () => { setView(call); byId("result").focus(); });
  byId("down").addEventListener("click", () => connection.send({ type: "down", duration_s: LINK_DOWN_S }));
  connection = new Connection({ hello, events, refused, connected: setConnected, replaced });
  showObjectiveNote();
  showCalls(folder, measures);
  checkMissing();
}

const isRunning = () => call !== null && call.status === "running";

// --- before the call ----------------------------------------------------------------------------------------------------

let checks = 0;
async function checkMissing() {
  const check = ++checks;
  const { ok, value } = await ask("missing", { ...setup.request, duration_s: 10, objective: objective.value });
  if (check !== checks || !ok) return;
  showMissing(value.missing);
}

function showMissing(list) {
  lacking = list.length > 0;
  byId("missing").hidden = !lacking;
  showStatus();
  byId("missing").replaceChildren(element("b", { text: "A call cannot be made here. Missing:" }),
    element("ul", {}, ...list.map((text) => element("li", { text }))));
}

function chosen() {
  showObjectiveNote();
  checkMissing();
  if (!isRunning()) setView(null);
}

let asking = false;
async function startCall() {
  if (asking) return;
  asking = true;
  setText(byId("refusal"), "");
  const { ok, errors, value } = await ask("call", { ...setup.request, objective: objective.value });
  asking = false;
  if (!ok) setText(byId("refusal"), errors.join(" "));
  // The socket sends the same event; the first one counts.
  else {
    showMissing([]);
    takeCall(value);
  }
}

function steer(weights) {
  if (isSteerable()) connection.send({ type: "objective", ...weights });
}

// A running call takes changes of its controller until its media end.
const isSteerable = () => isRunning() && lanes.some((data) => followsObjective(data.controller) && !data.over);

function refused({ of, message }) {
  guard.add("note", isRunning() && decided.started ? clock(decided.origin + decided.now) : null, `refused: ${message}`);
  if (of === "stop") stopAsked = "";
  (REFUSALS[of] || ((text) => setText(byId("change-refusal"), text)))(message);
}

// --- events of the server -----------------------------------------------------------------------------------------------

function setConnected(now) {
  connected = now;
  showStatus();
}

function replaced() {
  isReplaced = true;
  byId("start").disabled = true;
  showStatus();
}

function hello(message) {
  if (message.resumed && message.call && call && message.call.number === call.number) return;
  lanes = [];
  call = null;
  if (message.call) takeCall(message.call);
  else setView(null);
}

function events(list) {
  for (const event of list) {
    if (event.type === "call") takeCall(event.call);
    else if (call) takeEvent(event);
  }
  if (call) {
    showLive(call);
    live.refresh();
    guard.show(decided);
    showSteering();
    showProgress();
    showDown();
    showStop();
    showLateness();
  }
}

// The part of the request that the button stops: the call, then its measuring; empty while the report is written. With
// stopAsked the button waits for its effect; isStopped: no further call of the request begins.
let stopAsked = "", isStopped = false;
const stoppable = () => (call.phase.endsWith("writing the report") ? "" : lanes.every((data) => data.over || (isStopped && !data.started)) ? "measuring" : "call");

function showStop() {
  if (!isRunning()) return;
  const part = stoppable();
  byId("stop").disabled = part === "" || part === stopAsked;
  setText(byId("stop"), part === "call" ? "Stop the call" : "Stop measuring");
  byId("stop-note").hidden = part !== "measuring";
}

function showSteering() {
  pool.show((decided.estimate && decided.estimate.pool) || null, !isSteerable());
  models.over = !isSteerable();
  showObjectiveNote();
}

// The page follows the running one of two calls in turn; otherwise the one in which Weir decides, else the first.
function follow() {
  const inTurn = isRunning() && lanes.length > 1 && !call.at_once;
  const followed = inTurn ? lanes[latest] : lanes.find(({ controller }) => followsObjective(controller)) || lanes[0];
  if (followed === decided) return;
  decided = followed;
  live.follow(decided);
  // Without Weir there are no reasons to show.
  byId("rules").hidden = byId("reasons").hidden = !followsObjective(decided.controller);
  showObjectiveNote();
}

// Seconds since the first call of the request began, for the list of events; null before that. time: ms.
function clock(time) {
  const first = lanes.find((data) => data.started);
  return first ? (time - first.origin) / 1000 : null;
}

function takeEvent(event) {
  const data = lanes[event.lane ?? latest];
  // The events of a call begin after those of an earlier one have ended.
  if (event.lane > latest && !call.at_once) {
    latest = event.lane;
    downUntil = 0;
    follow();
  }
  data.take(event);
  const seconds = clock(event.time_us / 1000);
  // The report is that of all calls.
  const text = lanes.length > 1 && event.text && event.lane !== undefined ? `${shortName(data.controller)}: ${event.text}` : event.text;
  if (event.type === "progress") {
    call.share = event.share;
    showStatus();
  } else if (event.type === "state") {
    call.share = null;
    call.phase = call.at_once ? event.text : text;
    guard.add("state", seconds, text);
    showStatus();
  } else if (event.type === "note") {
    guard.add("note", seconds, text);
  } else if (event.type === "control") {
    takeControl(event, seconds);
  }
}

// The button counts down while the link is cut; times are those of the call.
let downUntil = 0;
function showDown() {
  const left = isRunning() ? Math.ceil((downUntil - decided.now) / 1000) : 0;
  // A cut must reach all calls that are compared.
  byId("down").disabled = left > 0 || !lanes.some((data) => data.started) || lanes.some((data) => data.over);
  setText(byId("down"), left > 0 ? `The link is down: ${left} s` : `Cut the link for ${LINK_DOWN_S} s`);
}

function takeControl(event, at) {
  if (event.action === "objective") {
    decided.mark(event.action);
    call.objective = [event.throughput, event.latency, event.loss];
    if (event.viewer !== connection.viewer) objective.set(call.objective);
  }
  if (event.action === "stop") isStopped = true;
  if (event.action === "down") {
    decided.mark(event.action);
    downUntil = decided.now + 1000 * event.duration_s;
  }
  setText(byId("change-refusal"), "");
  if (event.action === "model") models.use(event.name);
  if (event.action === "pool") setText(byId("pool-refusal"), "");
  const text = controlText(event);
  if (text) guard.add(event.action, at, text);
}

function takeCall(next) {
  const isNew = call === null || call.number !== next.number;
  const wasRunning = isRunning();
  // The response to the start may arrive after newer events of the call.
  if (!isNew && (!wasRunning || next.status === "running")) return;
  call = next;
  if (isNew) {
    downUntil = 0;
    stopAsked = "";
    isStopped = false;
    const scenario = setup.byName.get(call.scenario);
    lanes = call.controllers.map((name) => new CallData(name, scenario || null, largestLag));
    latest = 0;
    live.show(lanes, 1000 * call.duration_s);
    follow();
    if (isRunning()) objective.set(call.objective);
    guard.reset(decided);
    setText(byId("events-title"), lanes.length > 1 ? "Events, in seconds since the first call began" : "Events");
    for (const name of ["pool-refusal", "change-refusal"]) setText(byId(name), "");
    pool.show(null);
    models.show(call.controllers.some(hasModel), call.model);
    hideResult();
    if (scenario) fillSketch(byId("progress"), scenario, call.duration_s);
  }
  follow();
  setView(call);
  // The start button, or the setup, may have been far below what is of interest now.
  if (isNew) scrollTo({ top: 0, behavior: "instant" });
  if (!isRunning()) {
    showResult(call, measures);
    showCalls(folder, measures);
    // The focus was on the button Stop, which is hidden now; it moves to the result.
    if (wasRunning && (document.activeElement === document.body || byId("running").contains(document.activeElement))) byId("result").focus();
  }
}

// --- views ------------------------------------------------------------------------------------------------------

// A call that never began has nothing to plot. After a reload, the events of a call come after its result.
function showLive(shown) {
  byId("live").hidden = shown === null || (shown.status !== "running" && !lanes.some((data) => data.started));
}

// Shows setup and preview, a running call, or a completed call with the setup for the next.
function setView(shown) {
  const running = shown !== null && shown.status === "running";
  // The focus was on the button Start, which is hidden now; it moves to Stop.
  const takesFocus = running && byId("setup").contains(document.activeElement);
  layout.dataset.call = shown === null ? "none" : running ? "running" : "over";
  byId("running").hidden = !running;
  pictures.show(running ? shown : null);
  showLive(shown);
  byId("guard").hidden = shown === null;
  if (shown === null) byId("pool").hidden = true;
  byId("result").hidden = shown === null || running;
  // The whole path of a call stays in view, below what happens on it.
  if (shown !== null && setup.byName.has(shown.scenario)) setup.showPath(setup.byName.get(shown.scenario));
  byId("preview").hidden = shown !== null && !setup.byName.has(shown.scenario);
  if (running) {
    setText(byId("running-title"), shown.scenario);
    setText(byId("running-what"), `${shown.controllers.join(" and ")}${inTurn(shown)}, ${SENDERS[shown.sender] || shown.sender} sends ${shown.size.replace("x", "\u00a0×\u00a0")}`);
    setText(byId("length"), `of ${shown.duration_s} s`);
  }
  byId("setup").hidden = running;
  showLast(shown === null ? call : null);
  if (takesFocus) byId("stop").focus({ preventScroll: true });
  if (shown !== null) {
    // A stopped call may have no second one.
    const made = lanes.filter((data) => running || data.started).map(({ controller }) => controller);
    setText(byId("live-title"), `${shown.scenario} under ${(made.length ? made : shown.controllers).join(" and ")}`);
  }
  if (shown !== null) showDown();
  showStop();
  live.ended = shown !== null && !running;
  live.draw();
  showProgress();
  showStatus();
  showObjectiveNote();
}

// Shows the result again after the preview of another scenario has replaced it.
function showLast(last) {
  byId("last").hidden = last === null;
  if (last === null) return;
  setText(byId("last-name"), `${last.scenario} under ${last.controllers.join(" and ")}`);
  const report = last.results.map((result) => result.report).find(Boolean);
  byId("last-report").hidden = !report;
  if (report) byId("last-report").href = filePath(report);
}

const inTurn = ({ controllers, at_once: atOnce }) => (controllers.length < 2 ? "" : atOnce ? ", at once" : ", one after the other: two at once are too much for this machine");

function showStatus() {
  const state = isReplaced ? "replaced" : !connected ? "lost" : isRunning() ? "running" : lacking ? "lacking" : "ready";
  byId("status").dataset.state = state;
  const phase = (call && call.phase) || "starting";
  const share = isRunning() && typeof call.share === "number" ? call.share : null;
  const shown = (phase.includes(": ") ? phase : phase[0].toUpperCase() + phase.slice(1)) + (share === null ? "" : `, ${Math.round(100 * share)} %`);
  byId("work").hidden = share === null;
  if (share !== null) {
    setText(byId("work-text"), shown);
    byId("work-share").value = share;
  }
  const texts = { replaced: "weir serve was restarted: open its new address", lost: "Not connected to weir serve; trying again", running: shown, lacking: "A call cannot be made here", ready: "Ready" };
  setText(byId("status-text"), texts[state]);
}

function showProgress() {
  if (!isRunning()) return;
  const elapsed = (call.at_once ? live : decided).now / 1000;
  setText(byId("elapsed"), seconds(Math.min(elapsed, call.duration_s)));
  setProgress(byId("progress"), elapsed / call.duration_s);
  const shown = (call.at_once ? lanes : [decided]).filter(({ picture }) => picture.frames !== undefined).map(({ controller, picture: { frames, width, height, freezes, limit } }) => {
    const parts = [`${Math.round(frames)} frames/s`, width && `${width}\u00a0×\u00a0${height}`,
      freezes !== undefined && `${freezes} freeze${freezes === 1 ? "" : "s"} by getStats`, limit && limit !== "none" && `limited by ${limit}`];
    return (lanes.length > 1 ? `${shortName(controller)}: ` : "") + parts.filter(Boolean).join(" · ");
  });
  setText(byId("picture"), shown.join("; "));
}

// The link logs the lateness of packets: warns of a slow machine during the call, not only in the record.
function showLateness() {
  const late = isRunning() ? lanes.filter((data) => !data.over && data.lateShare > 0.05) : [];
  byId("late").hidden = late.length === 0;
  if (late.length) {
    const shares = late.map(({ controller, lateShare }) => `${shortName(controller)}: ${Math.round(100 * lateShare)} %`).join(", ");
    setText(byId("late"), `This machine is too slow for ${lanes.length > 1 && call.at_once ? "two calls at once" : "this call"}: packets leave the link over ${largestLag} ms late in part of the last 10 s (${shares}). What is seen is not the controllers alone.`);
  }
}

function showObjectiveNote() {
  const controller = isRunning() ? decided.controller : setup.controller;
  setText(byId("objective-note"),
    isRunning() && !isSteerable() && call.controllers.some(followsObjective) ? "The call under Weir is over: the weights apply to the next one."
      : !followsObjective(controller) ? `${controller.toUpperCase()} has no objective; the weights apply when Weir is the controller.`
      : controller === "shadow" ? "Affects Weir's shadow estimate only: GCC is in charge."
      : isRunning() ? "Takes effect with the next decision." : "Can also be changed during the call.");
}

// A file that is dropped would replace the page.
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  setText(byId(isRunning() ? "change-refusal" : "refusal"), "Traces are read when weir serve starts: weir serve FILE");
});

begin();
