// Starts the worker as it is, with Weir, observing, and with wrong settings: node worker_test.mjs MODEL
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import * as mediasoup from 'mediasoup';

const model = process.argv[2];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true }));

async function start(environment) {
  for (const name of ['WEIR_MODEL', 'WEIR_OBSERVE']) delete process.env[name];
  Object.assign(process.env, environment);
  const worker = await mediasoup.createWorker();
  const router = await worker.createRouter({ mediaCodecs: [{ kind: 'video', mimeType: 'video/VP8', clockRate: 90000 }] });
  const transport = await router.createWebRtcTransport({ listenInfos: [{ protocol: 'udp', ip: '127.0.0.1' }] });
  const [stats] = await transport.getStats();
  worker.close();
  return stats;
}

for (const [name, environment] of [
  ['without Weir', {}], ['with Weir', { WEIR_MODEL: model }],
  ['observing', { WEIR_MODEL: model, WEIR_OBSERVE: folder }],
]) {
  test(`the worker starts ${name}`, async () => assert.ok(await start(environment)));
}

for (const [name, environment] of [
  ['a model that is not there', { WEIR_MODEL: path.join(folder, 'absent') }],
  ['a file that is no model', { WEIR_MODEL: process.argv[1] }],
  ['a folder that is not there', { WEIR_MODEL: model, WEIR_OBSERVE: path.join(folder, 'absent') }],
]) {
  test(`the worker does not start with ${name}`, () => assert.rejects(start(environment), /code:2/));
}
