// The receiving side of a call: it answers, and tells of every frame that it decodes.
"use strict";

const FRAMES_INTERVAL_MS = 250;
let frames = [];

async function prepareToReceive() {
  // Who may use the camera may gather host candidates.
  const camera = await navigator.mediaDevices.getUserMedia({ video: true });
  camera.getTracks().forEach((track) => track.stop());
  connection.addEventListener("track", ({ track }) => readFrames(track).catch(fail));
  send({ type: "ready", user_agent: navigator.userAgent });
}

async function answer({ sdp }) {
  await connection.setRemoteDescription({ type: "offer", sdp });
  await connection.setLocalDescription(await connection.createAnswer());
  send({ type: "answer", sdp: connection.localDescription.sdp });
  startStats();
}

// Each frame as it leaves the decoder, and none held back for the screen's sake.
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
    send({ type: "frames", frames });
    frames = [];
  }
}
