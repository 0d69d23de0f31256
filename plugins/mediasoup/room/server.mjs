// One room: what a page publishes is sent to each page that subscribes. A request is the POST of a JSON object to /NAME.
//   node server.mjs ADDRESS [remb]     # with `remb` pages that publish follow REMB alone, without transport-cc
import http from 'node:http';
import * as mediasoup from 'mediasoup';

const [ip, remb] = process.argv.slice(2);
const worker = await mediasoup.createWorker({ logLevel: 'warn' });
worker.on('died', () => process.exit(1));
const router = await worker.createRouter({ mediaCodecs: [{ kind: 'video', mimeType: 'video/VP8', clockRate: 90000 }] });
const transports = new Map(), consumers = new Map();
let producer;

const withoutTransportCc = (parameters) => ({
  ...parameters,
  codecs: parameters.codecs.map((codec) => ({
    ...codec, rtcpFeedback: codec.rtcpFeedback.filter(({ type }) => type !== 'transport-cc'),
  })),
});

const requests = {
  capabilities: () => router.rtpCapabilities,
  async transport() {
    const transport = await router.createWebRtcTransport({ listenInfos: [{ protocol: 'udp', ip }] });
    transports.set(transport.id, transport);
    const { id, iceParameters, iceCandidates, dtlsParameters } = transport;
    return { id, iceParameters, iceCandidates, dtlsParameters };
  },
  connect: ({ id, dtlsParameters }) => transports.get(id).connect({ dtlsParameters }),
  async produce({ id, kind, rtpParameters }) {
    if (remb) rtpParameters = withoutTransportCc(rtpParameters);
    producer = await transports.get(id).produce({ kind, rtpParameters });
    return { id: producer.id };
  },
  async consume({ id, rtpCapabilities }) {
    if (!producer) return null;
    const consumer = await transports.get(id).consume({ producerId: producer.id, rtpCapabilities, paused: true });
    consumers.set(consumer.id, consumer);
    return { id: consumer.id, producerId: producer.id, kind: consumer.kind, rtpParameters: consumer.rtpParameters };
  },
  resume: ({ id }) => consumers.get(id).resume(),
};

http.createServer(async (request, response) => {
  response.setHeader('access-control-allow-origin', '*');
  try {
    let body = '';
    for await (const part of request) if ((body += part).length > 1e6) throw new Error('too long');
    const answer = await requests[request.url.slice(1)](JSON.parse(body));
    response.end(JSON.stringify(answer ?? null));
  } catch (error) {
    response.writeHead(400).end(String(error));
  }
}).listen(4443, ip);
