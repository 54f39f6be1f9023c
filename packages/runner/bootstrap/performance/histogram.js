// A histogram of high dynamic range, which is a C library in Node (deps/histogram). Values are kept
// to a number of significant decimal figures, in buckets whose width doubles. The code follows the
// published layout, so each value falls into the bucket that Node selects. Counts are kept in
// pieces, because the whole table of a default histogram is 352 KiB and a program uses a small
// part. Next: histogram-handle.js, which has the methods of Node's class.
'use strict';

const PERCENT = 100;

class Histogram {
  constructor(lowest, highest, figures) {
    const largestWithSingleUnits = 2 * 10 ** figures;
    this.unitMagnitude = Math.floor(Math.log2(lowest));
    this.halfMagnitude = Math.max(Math.ceil(Math.log2(largestWithSingleUnits)), 1) - 1;
    this.half = 2 ** this.halfMagnitude;
    this.unit = 2 ** this.unitMagnitude;
    this.highest = highest;
    this.reset();
  }

  reset() {
    this.pieces = new Map();
    this.total = 0;
    this.min = Number.POSITIVE_INFINITY;
    this.max = 0;
  }

  // Returns the power of two of the value's bucket; 0 for all values of the finest bucket.
  bucketOf(value) {
    const units = value / (2 * this.half * this.unit);
    return units < 1 ? 0 : Math.floor(Math.log2(units)) + 1;
  }

  indexOf(value) {
    const bucket = this.bucketOf(value);
    const sub = Math.floor(value / (this.unit * 2 ** bucket));
    return (bucket + 1) * this.half + sub - this.half;
  }

  /** Returns the lowest value of a bucket. */
  valueAt(index) {
    const bucket = Math.max(Math.floor(index / this.half) - 1, 0);
    const sub = index < this.half ? index : (index % this.half) + this.half;
    return sub * 2 ** bucket * this.unit;
  }

  /** Returns the number of values in the bucket of `value`. */
  rangeOf(value) {
    return this.unit * 2 ** this.bucketOf(value);
  }

  lowestOf(value) {
    return this.valueAt(this.indexOf(value));
  }

  highestOf(value) {
    return this.lowestOf(value) + this.rangeOf(value) - 1;
  }

  medianOf(value) {
    return this.lowestOf(value) + Math.floor(this.rangeOf(value) / 2);
  }

  /**
   * Counts a value. Returns false if the value is negative or above the histogram's highest value.
   */
  record(value, count = 1) {
    if (value < 0 || value > this.highest) return false;
    this.addAt(this.indexOf(value), count);
    this.total += count;
    if (value !== 0 && value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    return true;
  }

  addAt(index, count) {
    const number = Math.floor(index / this.half);
    let piece = this.pieces.get(number);
    if (piece === undefined) {
      piece = new Float64Array(this.half);
      this.pieces.set(number, piece);
    }
    piece[index % this.half] += count;
  }

  countAt(value) {
    const index = this.indexOf(value);
    return this.pieces.get(Math.floor(index / this.half))?.[index % this.half] ?? 0;
  }

  /** Yields `[value, count]` of all non-empty buckets, from the lowest. */
  *recorded() {
    for (const number of Array.from(this.pieces.keys()).sort((a, b) => a - b)) {
      const piece = this.pieces.get(number);
      for (let at = 0; at < piece.length; at++) {
        if (piece[at] !== 0) yield [this.valueAt(number * this.half + at), piece[at]];
      }
    }
  }

  minimum() {
    if (this.countAt(0) > 0) return 0;
    return this.min === Number.POSITIVE_INFINITY ? 2 ** 63 : this.lowestOf(this.min);
  }

  maximum() {
    return this.max === 0 ? 0 : this.highestOf(this.max);
  }

  mean() {
    let sum = 0;
    for (const [value, count] of this.recorded()) sum += count * this.medianOf(value);
    return sum / this.total;
  }

  /** Returns the mean of a power of the distance from the mean. */
  moment(power) {
    const mean = this.mean();
    let sum = 0;
    for (const [value, count] of this.recorded()) sum += count * (this.medianOf(value) - mean) ** power;
    return sum / this.total;
  }

  deviation() {
    return Math.sqrt(this.moment(2));
  }

  /** Returns the skewness; 0 without values or without variance, as in Node. */
  skewness() {
    const variance = this.total === 0 ? 0 : this.moment(2);
    return variance === 0 ? 0 : this.moment(3) / variance ** 1.5;
  }

  kurtosis() {
    const variance = this.total === 0 ? 0 : this.moment(2);
    return variance === 0 ? 0 : this.moment(4) / variance ** 2 - 3;
  }

  /** Returns the fraction of recorded values that are at most `value`. */
  below(value) {
    let sum = 0;
    for (const [at, count] of this.recorded()) if (at <= value) sum += count;
    return this.total === 0 ? 0 : sum / this.total;
  }

  percentile(percentile) {
    const wanted = Math.max(Math.floor((Math.min(percentile, PERCENT) / PERCENT) * this.total + 0.5), 1);
    let seen = 0;
    for (const [value, count] of this.recorded()) {
      seen += count;
      if (seen >= wanted) return percentile === 0 ? this.lowestOf(value) : this.highestOf(value);
    }
    return 0;
  }

  /** Yields `[percentile, value]` in steps that halve the distance to 100. */
  *percentiles() {
    let next = 0;
    let seen = 0;
    let last = 0;
    for (const [value, count] of this.recorded()) {
      seen += count;
      last = value;
      const reached = (PERCENT * seen) / this.total;
      while (next <= reached && next < PERCENT) {
        yield [next, last];
        if (seen >= this.total) break;
        const halves = Math.floor(Math.log2(PERCENT / (PERCENT - next))) + 1;
        next += PERCENT / 2 ** halves;
      }
    }
    yield [PERCENT, last];
  }

  add(other) {
    let dropped = 0;
    for (const [value, count] of other.recorded()) if (!this.record(value, count)) dropped += count;
    if (other.min < this.min) this.min = other.min;
    if (other.max > this.max && other.max <= this.highest) this.max = other.max;
    return dropped;
  }
}

module.exports = { Histogram };
