// Samples over time, at most a window of them. Times in ms of the call's clock.

export class Series {
  // gap: a sample counts as "the value now" for this long, ms; beyond it there is a hole.
  constructor(gap) {
    this.gap = gap;
    this.times = [];
    this.values = [];
  }

  add(time, value) {
    const last = this.times[this.times.length - 1];
    // A second sample of one time replaces the first; an older one is of no use.
    if (time < last) return;
    if (time === last) { this.values[this.values.length - 1] = value; return; }
    this.times.push(time);
    this.values.push(value);
  }

  // Drops all before `time` but one: the line comes from somewhere.
  trim(time) {
    let drop = 0;
    while (drop + 1 < this.times.length && this.times[drop + 1] < time) drop++;
    if (drop > 64) { this.times.splice(0, drop); this.values.splice(0, drop); }
  }

  // Index of the last sample at or before `time`; -1 when there is none.
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

  get last() {
    return this.values.length ? this.values[this.values.length - 1] : null;
  }

  // Largest value between two times; 0 when there is none.
  max(from, to) {
    let largest = 0;
    for (let index = Math.max(0, this.indexAt(from)); index < this.times.length && this.times[index] <= to; index++) {
      if (this.values[index] > largest) largest = this.values[index];
    }
    return largest;
  }
}
