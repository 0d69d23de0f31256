// For pages that are an end of a call over a server: their parameters, and the messages that `weir call` reads.
'use strict';
const given = new URLSearchParams(location.search);
const send = (message) => console.log(JSON.stringify(message));
const fail = (error) => send({ type: 'state', state: 'failed', error: String(error) });
window.onerror = (message) => fail(message);
window.onunhandledrejection = (event) => fail(event.reason);

// Sends the getStats of a sender or receiver twice a second, and once that media play.
function report(end) {
  let played = 0;
  setInterval(async () => {
    // A source of ten frames a second is no disturbance.
    const report = [...(await end.getStats()).values()].filter((stats) => stats.type !== 'media-source');
    if (report.some((stats) => stats.framesDecoded) && ++played === 4) send({ type: 'state', state: 'connected' });
    send({ type: 'stats', report });
  }, 500);
}

const TIME_BITS = 16;
const TIME_ROW_SHARE = 1 / 12;
const milliseconds = () => Math.round(performance.timeOrigin + performance.now()) % 2 ** TIME_BITS;

// A row of squares that are the bits of the time, white for 1, above one of their complements.
function drawTime(context, width, height) {
  const time = milliseconds();
  for (let bit = 0; bit < TIME_BITS; bit++) {
    for (const row of [0, 1]) {
      context.fillStyle = (time >> bit) % 2 === row ? 'black' : 'white';
      context.fillRect(bit * width / TIME_BITS, row * height, width / TIME_BITS, height);
    }
  }
}

// Sends the time from the drawing of each rendered frame to its rendering, if both ends are on one machine.
function reportDelays(video) {
  const squares = 4;
  const context = new OffscreenCanvas(TIME_BITS * squares, 2 * squares).getContext('2d', { willReadFrequently: true });
  const { width, height } = context.canvas;
  const isWhite = (pixels, bit, row) => pixels[4 * ((row + 0.5) * squares * width + (bit + 0.5) * squares)] > 127;
  const onFrame = () => {
    context.drawImage(video, 0, 0, video.videoWidth, 2 * TIME_ROW_SHARE * video.videoHeight, 0, 0, width, height);
    const { data } = context.getImageData(0, 0, width, height);
    const bits = Array.from({ length: TIME_BITS }, (_, bit) => isWhite(data, bit, 0));
    if (bits.every((bit, i) => bit !== isWhite(data, i, 1))) {
      const drawn = bits.reduce((sum, bit, i) => sum + (bit ? 2 ** i : 0), 0);
      const delay = (milliseconds() - drawn + 2 ** TIME_BITS) % 2 ** TIME_BITS;
      send({ type: 'stats', report: [{ type: 'rendered-frame', id: 'rendered-frame', endToEndDelay: delay / 1000 }] });
    }
    video.requestVideoFrameCallback(onFrame);
  };
  video.requestVideoFrameCallback(onFrame);
}

// Video for a publisher of layers. Large blocks for all layers, small ones that only the top layer shows, all of them new
// in each frame, so that a key frame is no larger than another. At the top is the time.
function layeredNoise(canvas) {
  const context = canvas.getContext('2d');
  const blocks = (count, size) => {
    for (let i = 0; i < count; i++) {
      context.fillStyle = `rgb(${Math.random() * 256},${Math.random() * 256},${Math.random() * 256})`;
      context.fillRect(Math.random() * canvas.width, Math.random() * canvas.height, size, size);
    }
  };
  setInterval(() => {
    context.clearRect(0, 0, canvas.width, canvas.height);
    blocks(4, 80);
    blocks(300, 4);
    drawTime(context, canvas.width, TIME_ROW_SHARE * canvas.height);
  }, 100);
  return canvas.captureStream(10).getVideoTracks()[0];
}
