/** Bounds of every rate. */
export interface TargetRateConstraints {
  minRateBps: number;
  startRateBps: number;
  maxRateBps: number;
  /** The most that the media use; 0: unknown. Only under loss is the rate higher, up to twice that. */
  maxMediaRateBps?: number;
}
export interface Options extends Partial<TargetRateConstraints> {
  /** "rule", "nada" or "fixed"; without it the shipped model decides. */
  controller?: string;
  objective?: Objective;
}
/** Weights, each above 0; divided by their sum. */
export interface Objective { throughput: number; latency: number; loss: number; }
export interface Estimate { atTimeUs: number; targetRateBps: number; reason: string; }
export interface Rates extends Estimate { pacingRateBps: number; congestionWindowBytes: number; }
export interface ProbeCluster {
  targetDataRateBps: number; targetDurationUs: number; targetProbeCount: number; id: number;
}
/** weir_packet of weir.h; absSendTime where the packet has that extension. */
export interface Packet {
  arrivalTimeUs: number; ssrc: number; sequenceNumber: number; payloadType?: number; kind?: number;
  absSendTime?: number; rtpTimestamp?: number; rtpClockRateHz?: number;
  headerBytes?: number; payloadBytes?: number; paddingBytes?: number; ecn?: number;
}
export interface SentPacket {
  sendTimeUs: number; sizeBytes: number; sequenceNumber: number; kind?: number; probeClusterId?: number;
}
export interface PacketFeedback { receiveTimeUs?: number; sequenceNumber: number; fate?: number; ecn?: number; }
interface Handle {
  readonly nextTimeoutUs: number;
  setObjective(objective: Objective): void;
  setConstraints(constraints: TargetRateConstraints, nowUs: number): void;
  onRoundTripTime(us: number, nowUs: number): void;
  close(): void;
}
export interface Estimator extends Handle {
  readonly estimate: Estimate;
  onPacket(packet: Packet): void;
  removeStream(ssrc: number): void;
  /** A set of ESTIMATE_CHANGED and REMB_DUE. */
  onTimeout(nowUs: number): number;
  remb(senderSsrc: number): Uint8Array;
}
export interface SendSide extends Handle {
  readonly rates: Rates;
  onSentPacket(packet: SentPacket): void;
  onTransportFeedback(feedback: PacketFeedback[], nowUs: number): void;
  onTimeout(nowUs: number): void;
  setDesiredRate(totalBps: number, nextBps?: number): void;
  takeProbeCluster(): ProbeCluster;
}
export interface Weir {
  readonly version: string;
  estimator(options?: Options): Estimator;
  sendSide(options?: Options & { pacingFactor?: number }): SendSide;
}
export class WeirError extends Error { code: number; }
export const PacketKind: Readonly<{ VIDEO: 0; AUDIO: 1; PROBE: 2; RETRANSMISSION: 3 }>;
export const PacketFate: Readonly<{ RECEIVED: 0; LOST: 1; UNKNOWN: 2 }>;
export const ESTIMATE_CHANGED: 1;
export const REMB_DUE: 2;
/** Loads the library; `bytes` are those of weir.wasm where it is not beside this file. */
export function load(bytes?: BufferSource): Promise<Weir>;
