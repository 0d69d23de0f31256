// An endpoint of a call: sender or receiver. Commands arrive over the signalling socket, in the messages of weir-peer.
"use strict";

const FRAMES_INTERVAL_MS = 250;
const socket = new WebSocket(`ws://${location.host}/signalling?token=${encodeURIComponent(location.hash.slice(1))}`);
let connection = null;
let settings = null;
let source = null;
let statsTimer = null;
let frames = [];
let videoReceiver = null;
const speaker = new Audio();

function now() {
  // ms since 1970, as in the timestamps of getStats.
  return performance.timeOrigin + performance.now();
}

function send(message) {
  if (socket.readyState === WebSocket.OPEN) {
    socket.send(JSON.stringify({ ...message, time_ms: now() }));
  }
}

function fail(message) {
  send({ type: "error", message: String(message), fatal: true });
}

async function configure(message) {
  settings = message;
  connect();
  await (settings.role === "receive" ? prepareToReceive() : prepareToSend());
}

function connect() {
  connection = new RTCPeerConnection();
  connection.addEventListener("icecandidate", ({ candidate }) => {
    if (candidate && candidate.candidate) {
      const { sdpMid, sdpMLineIndex } = candidate;
      send({ type: "candidate", candidate: candidate.candidate, sdpMid, sdpMLineIndex });
    }
  });
  connection.addEventListener("connectionstatechange", () => {
    document.getElementById("state").textContent = connection.connectionState;
    send({ type: "state", state: connection.connectionState });
  });
}

async function prepareToSend() {
  // The camera is a file of exactly this size; another size is an error.
  source = await navigator.mediaDevices.getUserMedia({
    // Audio processing would change the speech and suppress the beeps of the fake device.
    audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
    video: {
      width: { exact: settings.width },
      height: { exact: settings.height },
      frameRate: { ideal: settings.frames_per_second },
    },
  });
  const track = source.getVideoTracks()[0];
  track.contentHint = "motion";
  track.addEventListener("ended", () => fail("the camera ended"));
  const sender = connection.addTrack(track, source);
  connection.addTrack(source.getAudioTracks()[0], source);
  const [transceiver, audio] = connection.getTransceivers();
  transceiver.direction = audio.direction = "sendonly";
  preferCodec(transceiver, settings.codec);
  const parameters = sender.getParameters();
  parameters.degradationPreference = "maintain-framerate";
  parameters.encodings[0].maxBitrate = settings.max_bitrate_bps;
  parameters.encodings[0].maxFramerate = settings.frames_per_second;
  await sender.setParameters(parameters);
  send({ type: "ready", user_agent: navigator.userAgent, camera: track.getSettings() });
}

function preferCodec(transceiver, name) {
  const codecs = RTCRtpSender.getCapabilities("video").codecs;
  const preferred = codecs.filter((codec) => codec.mimeType.toLowerCase() === `video/${name}`.toLowerCase());
  if (preferred.length === 0) {
    throw new Error(`this browser does not send ${name}`);
  }
  const others = codecs.filter((codec) => !preferred.includes(codec));
  transceiver.setCodecPreferences([...preferred, ...others]);
}

async function sendStats() {
  if (connection) {
    send({ type: "stats", report: [...(await connection.getStats()).values()] });
  }
}

async function offer() {
  await connection.setLocalDescription(await connection.createOffer());
  send({ type: "offer", sdp: connection.localDescription.sdp });
  startStats();
}

function startStats() {
  statsTimer = setInterval(() => sendStats().catch(fail), settings.stats_interval_ms);
}

async function prepareToReceive() {
  // Permission for the camera is also permission to gather host candidates.
  const camera = await navigator.mediaDevices.getUserMedia({ video: true });
  camera.getTracks().forEach((track) => track.stop());
  connection.addEventListener("track", ({ track, receiver }) => {
    if (track.kind === "audio") {
      // Audio that is not played stays in the jitter buffer.
      speaker.srcObject = new MediaStream([track]);
      speaker.play().catch(fail);
    } else {
      videoReceiver = receiver;
      readFrames(track).catch(fail);
    }
  });
  send({ type: "ready", user_agent: navigator.userAgent });
}

async function answer({ sdp }) {
  await connection.setRemoteDescription({ type: "offer", sdp });
  await connection.setLocalDescription(await connection.createAnswer());
  send({ type: "answer", sdp: connection.localDescription.sdp });
  // A receiver may make a second offer.
  if (statsTimer === null) {
    startStats();
  }
}

// Reports each frame as it leaves the decoder, independently of the screen.
async function readFrames(track) {
  setInterval(sendFrames, FRAMES_INTERVAL_MS);
  const reader = new MediaStreamTrackProcessor({ track }).readable.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    const { displayWidth, displayHeight } = value;
    const { rtpTimestamp } = value.metadata();
    frames.push({ time_ms: now(), rtp_timestamp: rtpTimestamp, width: displayWidth, height: displayHeight });
    value.close();
  }
}

function sendFrames() {
  if (frames.length > 0) {
    send({ type: "frames", frames, ssrc: videoReceiver.getSynchronizationSources()[0]?.source });
    frames = [];
  }
}

async function stop() {
  clearInterval(statsTimer);
  await sendStats();
  sendFrames();
  connection?.close();
  source?.getTracks().forEach((track) => track.stop());
  send({ type: "end", reason: "stopped" });
}

const handlers = {
  configure,
  start: offer,
  offer: answer,
  answer: ({ sdp }) => connection.setRemoteDescription({ type: "answer", sdp }),
  candidate: ({ candidate, sdpMid, sdpMLineIndex }) =>
    connection.addIceCandidate({ candidate, sdpMid, sdpMLineIndex }),
  clock: ({ id }) => send({ type: "clock", id }),
  stats: sendStats,
  stop,
};

// Messages are handled sequentially, so that no candidate overtakes the answer.
let queue = Promise.resolve();
socket.addEventListener("message", ({ data }) => {
  const message = JSON.parse(data);
  queue = queue.then(() => handlers[message.type](message)).catch((error) => fail(`${message.type}: ${error}`));
});
socket.addEventListener("close", () => connection?.close());
window.addEventListener("error", ({ message }) => fail(message));
window.addEventListener("unhandledrejection", ({ reason }) => fail(reason));
