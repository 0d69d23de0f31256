// Converts the events of a call to time series for the plots, and to facts.
import { isPool } from "./controllers.js";

export class Series {
  // gap: a sample is valid for this long, ms; beyond it the line has a gap.
  constructor(gap) {
    this.gap = gap;
    this.times = [];
    this.values = [];
  }

  add(time, value) {
    const last = this.times[this.times.length - 1];
    // A sample of the same time replaces the last one; an older one is dropped.
    if (time < last) return;
    if (time === last) { this.values[this.values.length - 1] = value; return; }
    this.times.push(time);
    this.values.push(value);
  }

  // Index of the last sample at or before `time`; -1 if there is none.
  indexAt(time) {
    let low = 0, high = this.times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time) low = middle + 1; else high = middle;
    }
    return low - 1;
  }

  at(time) {
    const index = this.indexAt(time);
    return index >= 0 && time - this.times[index] <= this.gap ? this.values[index] : null;
  }

  // Largest value between two times; 0 if there is none.
  max(from, to) {
    let largest = 0;
    for (let index = Math.max(0, this.indexAt(from)); index < this.times.length && this.times[index] <= to; index++) {
      if (this.values[index] > largest) largest = this.values[index];
    }
    return largest;
  }
}

export const WINDOW_MS = 60000;
// Validity of frequent and of infrequent samples, ms: longer than their intervals.
const OFTEN = 1500, SELDOM = 3500;
const MEAN_MS = 1000, LATE_MS = 10000;
const DRAG_MS = 1200, MOST_MARKS = 200;

// One call; times are in ms since its scenario began.
export class CallData {
  // scenario: the server's description; null if unknown. largestLag: largest lag of the link that does not disturb a
  // call, ms.
  constructor(controller, scenario, largestLag = Infinity) {
    this.controller = controller;
    this.largestLag = largestLag;
    this.crossTraffic = scenario ? scenario.cross_traffic : [];
    this.baseDelay = scenario ? scenario.one_way_delay_ms : null;
    this.series = {
      capacity: new Series(OFTEN), available: new Series(OFTEN), estimate: new Series(OFTEN), sender: new Series(SELDOM),
      received: new Series(SELDOM), queue: new Series(OFTEN), seenQueue: new Series(OFTEN), lost: new Series(OFTEN), seenLost: new Series(OFTEN),
      reason: new Series(OFTEN), lag: new Series(OFTEN),
    };
    this.origin = null;
    this.now = 0;
    this.rules = {};
    this.picture = {};
    this.estimate = null;
    this.bytes = null;
    this.marks = [];
    this.drops = [];
    this.firstLink = null;
    this.seenLoss = new Mean();
    this.seenRate = new Mean();
    this.started = false;
    this.over = false;
  }

  // ms since the scenario began; null before that.
  since(event) {
    return this.started ? event.time_us / 1000 - this.origin : null;
  }

  take(event) {
    if (event.type === "state" && event.started_us) this.begin(event.started_us / 1000);
    else if (event.type === "state" && this.started) this.over = true;
    // A late viewer has not received the start.
    if (!this.started && event.type === "link" && event.scenario_time_s > 0) this.begin(event.time_us / 1000 - 1000 * event.scenario_time_s);
    // Media end before the link and the receiver: ignore the final drop of the rate to 0.
    if (this.over || !this.started) return;
    const time = this.since(event);
    if (event.type === "link") this.takeLink(event, time);
    else if (event.type === "estimate") this.takeEstimate(event, time);
    else if (event.type === "stats") this.takeStats(event, time);
    else return;
    this.now = Math.max(this.now, time);
  }

  begin(origin) {
    this.origin = origin;
    this.started = true;
  }

  // The share of the last 10 s in which the lag of the link, caused by the machine, disturbed the call.
  get lateShare() {
    const { times, values } = this.series.lag;
    const recent = values.slice(this.series.lag.indexAt(this.now - LATE_MS) + 1);
    return times.length && recent.length >= 20 ? recent.filter((lag) => lag > this.largestLag).length / recent.length : 0;
  }

  // Marks a change by the user; the steps of a drag share one mark.
  mark(action) {
    const time = this.now, last = this.marks[this.marks.length - 1];
    if (last && last.action === action && time - last.until < DRAG_MS) last.until = time;
    else this.marks.push({ time, until: time, action });
    if (this.marks.length > MOST_MARKS) this.marks.shift();
  }

  takeLink(event, time) {
    const { series } = this;
    if (numberOr(event.delay_error_ms_p95) !== null) series.lag.add(time, event.delay_error_ms_p95);
    const capacity = numberOr(event.capacity_bps);
    series.capacity.add(time, capacity);
    if (this.crossTraffic.length && capacity !== null) {
      const taken = this.crossTraffic.reduce(
        (sum, flow) => sum + (event.scenario_time_s >= flow.start_s && event.scenario_time_s < flow.stop_s ? flow.rate_bps : 0), 0);
      series.available.add(time, Math.max(0, capacity - taken));
    }
    series.queue.add(time, this.linkDelay(event));
    series.lost.add(time, this.lossRatio(event, time));
  }

  // Delay of packets above the base delay; without a packet, the delay of the queue.
  linkDelay(event) {
    const delay = numberOr(event.one_way_delay_ms_mean);
    return delay === null || this.baseDelay === null ? numberOr(event.queueing_delay_ms) : Math.max(0, delay - this.baseDelay);
  }

  // The loss ratio over the last second, as single intervals have few packets; null during the first second.
  lossRatio(event, time) {
    this.firstLink ??= time;
    this.drops.push([time, (event.dropped_packets || 0) + (event.dropped_while_down_packets || 0), event.packets || 0]);
    while (time - this.drops[0][0] > MEAN_MS) this.drops.shift();
    if (time - this.firstLink < MEAN_MS) return null;
    const [dropped, passed] = this.drops.reduce(([a, b], [, lost, arrived]) => [a + lost, b + arrived], [0, 0]);
    return dropped + passed > 0 ? dropped / (dropped + passed) : 0;
  }

  takeEstimate(event, time) {
    const { series } = this;
    this.estimate = event;
    series.estimate.add(time, numberOr(event.target_rate_bps));
    series.seenQueue.add(time, numberOr(event.queueing_delay_ms));
    series.seenLost.add(time, this.seenLoss.with(time, event.loss_ratio));
    series.reason.add(time, event.reason);
    this.rules = event.guard || {};
    if (numberOr(event.receive_rate_bps) !== null) series.received.add(time, this.seenRate.with(time, event.receive_rate_bps));
  }

  takeStats(event, time) {
    for (const entry of event.report || []) {
      if (event.end === "receiver" && entry.type === "inbound-rtp" && entry.kind === "video") this.takeVideo(entry, time);
      if (event.end === "sender" && entry.type === "candidate-pair" && entry.nominated !== false) {
        if (this.controller !== "weir" && !isPool(this.controller) && numberOr(entry.availableOutgoingBitrate) !== null) {
          this.series.sender.add(time, entry.availableOutgoingBitrate);
        }
      }
      if (event.end === "sender" && entry.type === "outbound-rtp" && entry.kind === "video") {
        this.picture.limit = entry.qualityLimitationReason;
      }
    }
  }

  takeVideo(entry, time) {
    const bytes = (entry.bytesReceived || 0) + (entry.headerBytesReceived || 0);
    // Without estimates, the receiver's counters give the received rate.
    if (this.bytes && this.estimate === null && time > this.bytes.time) {
      this.series.received.add(time, Math.max(0, (8000 * (bytes - this.bytes.count)) / (time - this.bytes.time)));
    }
    this.bytes = { time, count: bytes };
    Object.assign(this.picture, {
      frames: entry.framesPerSecond, width: entry.frameWidth, height: entry.frameHeight, freezes: entry.freezeCount,
      frozen: entry.totalFreezesDuration,
    });
  }
}

// The mean of the last second; null during the first second.
class Mean {
  constructor() {
    this.samples = [];
    this.first = null;
  }

  with(time, value) {
    this.first ??= time;
    this.samples.push([time, numberOr(value) || 0]);
    while (time - this.samples[0][0] > MEAN_MS) this.samples.shift();
    if (time - this.first < MEAN_MS) return null;
    return this.samples.reduce((sum, [, each]) => sum + each, 0) / this.samples.length;
  }
}

const numberOr = (value) => (typeof value === "number" && Number.isFinite(value) ? value : null);
