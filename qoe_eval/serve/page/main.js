// The page: events of the server go to the views, actions of the user to the server.
import { CallData } from "./call_data.js";
import { hideResult, showCalls, showResult } from "./calls.js";
import { ask, Connection } from "./connection.js";
import { followsObjective, hasModel, learnControllers, ModelChoice, PoolView } from "./controllers.js";
import { byId, element, seconds, setText } from "./dom.js";
import { controlText, GuardView } from "./guard.js";
import { Live } from "./live.js";
import { Objective } from "./objective.js";
import { SENDERS, Setup } from "./setup.js";
import { fillSketch, setProgress } from "./sketch.js";

const LINK_DOWN_S = 5;

// From here on the cookie is enough; the token is removed from the address bar.
history.replaceState(null, "", location.pathname);

const layout = document.querySelector(".layout");
let connection = null, setup = null, objective = null, live = null, guard = null, pool = null, models = null;
let call = null, data = null, folder = "", measures = [], connected = false;

async function begin() {
  const { ok, value, errors } = await ask("/setup");
  if (!ok) { setText(byId("status-text"), errors.join(" ")); return; }
  ({ folder, measures } = value);
  learnControllers(value.controllers);
  objective = new Objective(value.presets, value.minimum_weight, steer);
  setup = new Setup(value, chosen, startCall);
  live = new Live();
  guard = new GuardView();
  pool = new PoolView((line) => connection.send({ type: "pool", line }));
  models = new ModelChoice((name) => connection.send({ type: "model", name }));
  byId("stop").addEventListener("click", () => { if (connection.send({ type: "stop" })) byId("stop").disabled = true; });
  byId("down").addEventListener("click", () => connection.send({ type: "down", duration_s: LINK_DOWN_S }));
  connection = new Connection({ hello, events, refused: (text) => guard.add("note", null, `refused: ${text}`), connected: setConnected });
  showObjectiveNote();
  showCalls(folder, measures);
  checkMissing();
}

const isRunning = () => call !== null && call.status === "running";

// --- before the call ----------------------------------------------------------------------------------------------------

let checks = 0;
async function checkMissing() {
  const check = ++checks;
  const { ok, value } = await ask("/missing", { ...setup.request, duration_s: 10, objective: objective.value });
  if (check !== checks || !ok) return;
  showMissing(value.missing);
}

function showMissing(list) {
  byId("missing").hidden = list.length === 0;
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
  const { ok, errors, value } = await ask("/call", { ...setup.request, objective: objective.value });
  asking = false;
  if (!ok) setText(byId("refusal"), errors.join(" "));
  // The socket sends the same event; the first one counts.
  else {
    showMissing([]);
    takeCall(value);
  }
}

function steer(weights) {
  if (isRunning() && followsObjective(call.controller)) connection.send({ type: "objective", ...weights });
}

// --- events of the server -----------------------------------------------------------------------------------------------

function setConnected(now) {
  connected = now;
  showStatus();
}

function hello(message) {
  if (message.resumed && message.call && call && message.call.number === call.number) return;
  data = null;
  call = null;
  if (message.call) takeCall(message.call);
  else setView(null);
}

function events(list) {
  for (const event of list) {
    if (event.type === "call") takeCall(event.call);
    else if (data) takeEvent(event);
  }
  if (data) {
    live.refresh();
    guard.show(data);
    pool.show((data.estimate && data.estimate.pool) || null);
    showProgress();
  }
}

function takeEvent(event) {
  data.take(event);
  const at = data.started ? (event.time_us / 1000 - data.origin) / 1000 : null;
  if (event.type === "state") {
    call.phase = event.text;
    guard.add("state", at, event.text);
    // Until it is connected a call can only be stopped; while it is measured, not even that.
    byId("down").disabled = !event.started_us;
    if (data.started && !event.started_us) byId("stop").disabled = true;
    showStatus();
  } else if (event.type === "note") {
    guard.add("note", at, event.text);
  } else if (event.type === "control") {
    takeControl(event, at);
  }
}

// The steps of one drag are one line.
function takeControl(event, at) {
  if (event.action === "objective") {
    data.mark(event.action);
    call.objective = [event.throughput, event.latency, event.loss];
    if (event.viewer !== connection.viewer) objective.set(call.objective);
    const first = byId("events").firstElementChild;
    if (first && first.dataset.kind === "objective") first.remove();
  }
  if (event.action === "down") data.mark(event.action);
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
    const scenario = setup.byName.get(call.scenario);
    data = new CallData(call, scenario || null);
    if (isRunning()) objective.set(call.objective);
    guard.reset();
    pool.show(null);
    models.show(hasModel(call.controller));
    hideResult();
    live.show(data);
    if (scenario) fillSketch(byId("progress"), scenario);
  }
  setView(call);
  if (!isRunning()) {
    showResult(call, measures);
    showCalls(folder, measures);
    // The focus was on the button Stop, which is hidden now; it moves to the result.
    if (wasRunning && (document.activeElement === document.body || byId("running").contains(document.activeElement))) byId("result").focus();
  }
}

// --- views ------------------------------------------------------------------------------------------------------

// Shows setup and preview, a running call, or a completed call with the setup for the next.
function setView(shown) {
  const running = shown !== null && shown.status === "running";
  // The focus was on the button Start, which is hidden now; it moves to Stop.
  const takesFocus = running && byId("setup").contains(document.activeElement);
  layout.dataset.call = shown === null ? "none" : running ? "running" : "over";
  byId("running").hidden = !running;
  byId("live").hidden = byId("guard").hidden = shown === null;
  if (shown === null) byId("pool").hidden = true;
  byId("result").hidden = shown === null || running;
  byId("preview").hidden = shown !== null;
  byId("stop").disabled = false;
  byId("down").disabled = !(data && data.started);
  if (running) {
    setText(byId("running-title"), shown.scenario);
    setText(byId("running-what"), `${shown.controller}, ${SENDERS[shown.sender] || shown.sender} sends ${shown.size.replace("x", " × ")}`);
    setText(byId("length"), `of ${shown.duration_s} s`);
  }
  byId("setup").hidden = running;
  if (takesFocus) byId("stop").focus({ preventScroll: true });
  // Without Weir there are no reasons to show.
  byId("rules").hidden = byId("reasons").hidden = shown !== null && !followsObjective(shown.controller);
  if (shown !== null) setText(byId("live-title"), `${shown.scenario} under ${shown.controller}`);
  live.draw();
  showProgress();
  showStatus();
  showObjectiveNote();
}

function showStatus() {
  const state = !connected ? "lost" : isRunning() ? "running" : "ready";
  byId("status").dataset.state = state;
  const phase = (call && call.phase) || "starting";
  setText(byId("status-text"), { lost: "Not connected to weir serve; trying again", running: phase[0].toUpperCase() + phase.slice(1), ready: "Ready" }[state]);
}

function showProgress() {
  if (!data || !isRunning()) return;
  setText(byId("elapsed"), data.started ? seconds(Math.min(data.elapsed, call.duration_s)) : "0 s");
  const scenario = setup.byName.get(call.scenario);
  setProgress(byId("progress"), data.elapsed / (scenario ? scenario.duration_s : call.duration_s));
  const { frames, width, height, freezes, limit } = data.picture;
  const parts = [frames !== undefined && `${Math.round(frames)} frames/s`, width && `${width} × ${height}`,
    freezes !== undefined && `${freezes} freeze${freezes === 1 ? "" : "s"}`, limit && limit !== "none" && `limited by ${limit}`];
  setText(byId("picture"), parts.filter(Boolean).join(" · "));
}

function showObjectiveNote() {
  const controller = isRunning() ? call.controller : setup.choice.controller;
  setText(byId("objective-note"),
    !followsObjective(controller) ? `${controller.toUpperCase()} has no objective; the weights apply when Weir is the controller.`
      : controller === "shadow" ? "Affects Weir's shadow estimate only: GCC decides."
      : isRunning() ? "Takes effect with the next decision." : "Can also be changed during the call.");
}

begin();
