// The class behind Node's histograms (histogram.cc): values as numbers or BigInts, the count of
// values above the highest value, and time deltas. Next: histogram.js for the buckets;
// ../internal-bindings/performance.js, which makes instances.
'use strict';

const context = require('../context.js');
const { Histogram } = require('./histogram.js');
const { unavailableError, unavailableFunction } = require('../errors/unavailable.js');

class HistogramHandle {
  #values;
  #exceeds = 0;
  #previous = 0;

  constructor(lowest = 1, highest = Number.MAX_SAFE_INTEGER, figures = 3, halfLife = 0) {
    if (halfLife > 0) throw unavailableError('createHistogram({ halfLife })');
    this.#values = new Histogram(Number(lowest), Number(highest), figures);
  }
  count() {
    return this.#values.total;
  }
  countBigInt() {
    return BigInt(this.#values.total);
  }
  exceeds() {
    return this.#exceeds;
  }
  exceedsBigInt() {
    return BigInt(this.#exceeds);
  }
  min() {
    return this.#values.minimum();
  }
  // Without values Node returns the largest signed number of 64 bits.
  minBigInt() {
    const min = this.#values.minimum();
    return min === 2 ** 63 ? 2n ** 63n - 1n : BigInt(min);
  }
  max() {
    return this.#values.maximum();
  }
  maxBigInt() {
    return BigInt(this.#values.maximum());
  }
  mean() {
    return this.#values.mean();
  }
  stddev() {
    return this.#values.deviation();
  }
  skewness() {
    return this.#values.skewness();
  }
  kurtosis() {
    return this.#values.kurtosis();
  }
  // Moving averages are off, because the constructor refuses a half-life.
  ewmaMean() {
    return 0;
  }
  ewmaStddev() {
    return 0;
  }
  ewmaErrorRate() {
    return 0;
  }
  cdf(value) {
    return this.#values.below(value);
  }
  countAt(value) {
    return this.#values.countAt(value);
  }
  percentile(percentile) {
    return this.#values.percentile(percentile);
  }
  percentileBigInt(percentile) {
    return BigInt(this.#values.percentile(percentile));
  }
  percentiles(map) {
    for (const [percentile, value] of this.#values.percentiles()) map.set(percentile, value);
  }
  percentilesBigInt(map) {
    for (const [percentile, value] of this.#values.percentiles()) map.set(percentile, BigInt(value));
  }
  record(value) {
    this.#record(Number(value));
  }
  recordDelta() {
    const now = native.clockNs(1);
    if (this.#previous > 0) this.#record(Math.floor(now - this.#previous));
    this.#previous = now;
  }
  add(other) {
    this.#exceeds += other.#exceeds + this.#values.add(other.#values);
  }
  reset() {
    this.#values.reset();
    this.#exceeds = 0;
    this.#previous = 0;
  }
  #record(value) {
    if (!this.#values.record(value)) this.#exceeds++;
  }
}

// A histogram of the loop's delay: the nanoseconds between two runs of a timer, which should run
// every `resolution` milliseconds.
class IntervalHistogram extends HistogramHandle {
  #resolution;
  #timer;
  constructor(resolution) {
    super(1, 3.6e12, 3);
    this.#resolution = resolution;
  }
  start(reset) {
    if (this.#timer !== undefined) return;
    if (reset) this.reset();
    let before = native.clockNs(1);
    const { setInterval } = context.requireBuiltin('timers');
    this.#timer = setInterval(() => {
      const now = native.clockNs(1);
      this.record(Math.floor(now - before));
      before = now;
    }, this.#resolution);
    this.#timer.unref();
  }
  stop() {
    context.requireBuiltin('timers').clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

// Adds the methods of Node's class that HistogramHandle lacks. The added methods throw when they
// are called.
function install(shape) {
  for (const name of Object.getOwnPropertyNames(shape)) {
    if (name in HistogramHandle.prototype) continue;
    Object.defineProperty(HistogramHandle.prototype, name, {
      configurable: true,
      writable: true,
      value: unavailableFunction('performance.Histogram', name),
    });
  }
}

module.exports = { HistogramHandle, IntervalHistogram, install };
