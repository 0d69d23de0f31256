// Weir's C interface (weir.h) for JavaScript: the library as WebAssembly, in Node and in browsers. Times are microseconds
// of one monotonic clock, rates bits per second, both Numbers.

// Structs of weir.h: fields in order, each with its bytes. A pointer of 32 bits is padded to what follows.
const PACKET = {
  arrivalTimeUs: 'i64', ssrc: 'u32', sequenceNumber: 'u16', payloadType: 'u8', kind: 'u8', hasAbsSendTime: 'u32',
  absSendTime: 'u32', rtpTimestamp: 'u32', rtpClockRateHz: 'u32', headerBytes: 'u32', payloadBytes: 'u32',
  paddingBytes: 'u32', ecn: 'u32',
};
const CONSTRAINTS = { minRateBps: 'i64', startRateBps: 'i64', maxRateBps: 'i64', maxMediaRateBps: 'i64' };
// weir_estimator_config: its size (padded), those, three weights, ...
const CONFIG_BYTES = 88;
const ESTIMATE = { atTimeUs: 'i64', targetRateBps: 'i64', reason: 'text' };
const SENT_PACKET = { sendTimeUs: 'i64', sizeBytes: 'u32', sequenceNumber: 'u16', kind: 'u16', probeClusterId: 'i32' };
const FEEDBACK = { receiveTimeUs: 'i64', sequenceNumber: 'u16', fate: 'u16', ecn: 'u32' };
const FEEDBACK_BYTES = 16;
const RATES = {
  atTimeUs: 'i64', targetRateBps: 'i64', pacingRateBps: 'i64', congestionWindowBytes: 'i64', reason: 'text',
};
const CLUSTER = { targetDataRateBps: 'i64', targetDurationUs: 'i64', targetProbeCount: 'i32', id: 'i32' };
const BYTES = { i64: 8, u32: 4, i32: 4, u16: 2, u8: 1, text: 4 };

/** Kinds of RTP packets. */
export const PacketKind = Object.freeze({ VIDEO: 0, AUDIO: 1, PROBE: 2, RETRANSMISSION: 3 });
/** Fates of packets that were sent. */
export const PacketFate = Object.freeze({ RECEIVED: 0, LOST: 1, UNKNOWN: 2 });
/** Bits of the result of Estimator.onTimeout(). */
export const ESTIMATE_CHANGED = 1;
export const REMB_DUE = 2;

/** A call that failed; `code` is a weir_error of weir.h. */
export class WeirError extends Error {
  constructor(code, message) {
    super(message);
    this.name = 'WeirError';
    this.code = code;
  }
}

async function moduleBytes() {
  const url = new URL('./weir.wasm', import.meta.url);
  if (url.protocol !== 'file:') return (await fetch(url)).arrayBuffer();
  return (await import('node:fs/promises')).readFile(url);
}

/** Loads the library once: `const weir = await load()`. */
export async function load(bytes) {
  const wasi = {
    // The clock times a model that is loaded.
    clock_time_get: (_clock, _precision, at) => {
      new DataView(instance.exports.memory.buffer).setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    proc_exit: (code) => { throw new WeirError(-7, `the library ended with ${code}`); },
  };
  const module = await WebAssembly.compile(bytes ?? (await moduleBytes()));
  for (const { name } of WebAssembly.Module.imports(module)) wasi[name] ??= () => 52; // ENOSYS
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi });
  instance.exports._initialize();
  return new Weir(instance.exports);
}

class Weir {
  #c;
  #block;
  #size = 0;
  #texts = new Map();
  #shipped = 0;

  constructor(exports) {
    this.#c = exports;
    this.#reserve(4096);
  }

  get version() { return this.#text(this.#c.weir_version()); }

  /** The receiver's estimator; the shipped model decides, or `controller`: "rule", "nada" or "fixed". */
  estimator(options = {}) { return new Estimator(this, this.create('weir_estimator_create', options, [])); }

  /** Weir at the sender, from transport-wide feedback. `pacingFactor` times the target is the pacing rate. */
  sendSide(options = {}) {
    return new SendSide(this, this.create('weir_send_side_create', options, [options.pacingFactor ?? 0]));
  }

  /** For the classes of this file. */
  create(name, { controller, objective, ...constraints }, more) {
    const decides = controller === undefined ? this.#policy() : this.#builtIn(controller);
    try {
      const at = this.#reserve(256);
      const config = at + 16;
      this.#c.weir_estimator_config_init(config, CONFIG_BYTES);
      const view = this.#view();
      Object.keys(CONSTRAINTS).forEach((rate, i) => {
        if (constraints[rate] !== undefined) view.setBigInt64(config + 8 + 8 * i, BigInt(constraints[rate]), true);
      });
      if (objective) {
        const { throughput, latency, loss } = objective;
        [throughput, latency, loss].forEach((weight, i) => view.setFloat32(config + 40 + 4 * i, weight, true));
      }
      return this.#created(at, this.#c[name](decides, config, ...more, at));
    } finally {
      this.#c.weir_controller_destroy(decides);
    }
  }

  call(name, ...values) {
    const result = this.#c[name](...values);
    if (typeof result === 'number' && result < 0) {
      throw new WeirError(result, this.#text(this.#c.weir_last_error(), false));
    }
    return result;
  }

  /** Writes structs into the block; the address. */
  put(layout, structs, bytes) {
    const start = this.#reserve(bytes * structs.length);
    const view = this.#view();
    structs.forEach((struct, index) => {
      let at = start + bytes * index;
      for (const [name, type] of Object.entries(layout)) {
        at = aligned(at, BYTES[type]);
        const value = struct[name] ?? 0;
        if (type === 'i64') view.setBigInt64(at, BigInt(value), true);
        else if (type === 'u16') view.setUint16(at, value, true);
        else if (type === 'u8') view.setUint8(at, value);
        else view.setUint32(at, value, true);
        at += BYTES[type];
      }
    });
    return start;
  }

  /** Reads the struct at the start of the block. */
  get(layout) {
    const view = this.#view();
    const struct = {};
    let at = this.#block;
    for (const [name, type] of Object.entries(layout)) {
      at = aligned(at, BYTES[type]);
      if (type === 'i64') struct[name] = Number(view.getBigInt64(at, true));
      else if (type === 'text') struct[name] = this.#text(view.getUint32(at, true));
      else struct[name] = view.getInt32(at, true);
      at += BYTES[type];
    }
    return struct;
  }

  /** A copy of the first bytes of the block. */
  bytes(size) { return new Uint8Array(this.#c.memory.buffer, this.#block, size).slice(); }

  get block() { return this.#block; }

  #view() { return new DataView(this.#c.memory.buffer); }

  #reserve(size) {
    if (size > this.#size) {
      this.#c.free(this.#block ?? 0);
      this.#block = this.#c.malloc(size);
      if (!this.#block) throw new WeirError(-6, 'out of memory');
      this.#size = size;
    }
    return this.#block;
  }

  #created(at, code) {
    if (code < 0) throw new WeirError(code, this.#text(this.#c.weir_last_error(), false));
    return this.#view().getUint32(at, true);
  }

  #policy() {
    let at = this.#reserve(8);
    this.#shipped ||= this.#created(at, this.#c.weir_model_load_shipped(at));
    at = this.#reserve(8);
    return this.#created(at, this.#c.weir_controller_create_policy(this.#shipped, 0, at));
  }

  #builtIn(name) {
    const text = new TextEncoder().encode(`${name}\0`);
    const at = this.#reserve(8 + text.length);
    new Uint8Array(this.#c.memory.buffer).set(text, at + 8);
    return this.#created(at, this.#c.weir_controller_create_built_in(at + 8, at));
  }

  #text(address, isStatic = true) {
    if (!address) return '';
    if (isStatic && this.#texts.has(address)) return this.#texts.get(address);
    const memory = new Uint8Array(this.#c.memory.buffer);
    const text = new TextDecoder().decode(memory.slice(address, memory.indexOf(0, address)));
    if (isStatic) this.#texts.set(address, text);
    return text;
  }
}

function aligned(at, bytes) { return (at + bytes - 1) & -bytes; }

/** A handle; close() frees it. */
class Handle {
  constructor(weir, handle, prefix) {
    this.weir = weir;
    this.handle = handle;
    this.prefix = prefix;
  }

  call(name, ...values) {
    if (!this.handle) throw new WeirError(-1, 'closed');
    return this.weir.call(this.prefix + name, this.handle, ...values);
  }

  close() {
    if (this.handle) this.call('destroy');
    this.handle = 0;
  }

  /** When onTimeout() is due. */
  get nextTimeoutUs() { return Number(this.call('next_timeout_us')); }

  setObjective({ throughput, latency, loss }) { this.call('set_objective', throughput, latency, loss); }

  /** { minRateBps, startRateBps, maxRateBps, maxMediaRateBps }; 0 or no maxMediaRateBps: unknown. */
  setConstraints(constraints, nowUs) {
    this.call('set_constraints', this.weir.put(CONSTRAINTS, [constraints], 32), BigInt(nowUs));
  }

  onRoundTripTime(us, nowUs) { this.call('on_round_trip_time', BigInt(us), BigInt(nowUs)); }
}

class Estimator extends Handle {
  constructor(weir, handle) { super(weir, handle, 'weir_estimator_'); }

  /** An RTP packet as received, with the fields of weir_packet; absSendTime where it has that extension. */
  onPacket(packet) {
    const hasAbsSendTime = packet.absSendTime === undefined ? 0 : 1;
    this.call('on_packet', this.weir.put(PACKET, [{ ...packet, hasAbsSendTime }], 48));
  }

  removeStream(ssrc) { this.call('remove_stream', ssrc); }

  /** Decides: a set of ESTIMATE_CHANGED and REMB_DUE. */
  onTimeout(nowUs) { return this.call('on_timeout', BigInt(nowUs), 0); }

  /** The rate in force: { atTimeUs, targetRateBps, reason }. */
  get estimate() {
    this.call('get_estimate', this.weir.block);
    return this.weir.get(ESTIMATE);
  }

  /** The RTCP packet with the rate in force, a Uint8Array. */
  remb(senderSsrc) { return this.weir.bytes(this.call('write_remb', senderSsrc, this.weir.block, 1040)); }
}

class SendSide extends Handle {
  constructor(weir, handle) { super(weir, handle, 'weir_send_side_'); }

  /** { sendTimeUs, sizeBytes, sequenceNumber, kind, probeClusterId }, in the order of sequence numbers. */
  onSentPacket(packet) { this.call('on_sent_packet', this.weir.put(SENT_PACKET, [packet], 24)); }

  /** One feedback message: [{ receiveTimeUs, sequenceNumber, fate, ecn }]. */
  onTransportFeedback(feedback, nowUs) {
    const at = this.weir.put(FEEDBACK, feedback, FEEDBACK_BYTES);
    this.call('on_transport_feedback', at, feedback.length, BigInt(nowUs));
  }

  onTimeout(nowUs) { this.call('on_timeout', BigInt(nowUs)); }

  /** { atTimeUs, targetRateBps, pacingRateBps, congestionWindowBytes, reason }. */
  get rates() {
    this.call('get_rates', this.weir.block);
    return this.weir.get(RATES);
  }

  setDesiredRate(totalBps, nextBps = 0) { this.call('set_desired_rate', BigInt(totalBps), BigInt(nextBps)); }

  /** A cluster of probes that has become due; its id is 0 where none has. */
  takeProbeCluster() {
    this.call('take_probe_cluster', this.weir.block);
    return this.weir.get(CLUSTER);
  }
}
