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

// Video for a publisher of layers. Large blocks for all layers, small ones that only the top layer shows, all of them new
// in each frame, so that a key frame is no larger than another.
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
  }, 100);
  return canvas.captureStream(10).getVideoTracks()[0];
}
