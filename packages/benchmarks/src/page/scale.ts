// Maps values to positions on a drawing, and chooses the ticks of the axis.

export interface Scale {
  at(value: number): number;
  ticks: number[];
  /**
   * Returns whether a tick gets a label. Axes of more than two decades label only whole decades.
   */
  isLabelled(tick: number): boolean;
}

/**
 * Makes a logarithmic scale that contains all values. The first and the last value of the scale are
 * 1, 2 or 5 times a power of ten.
 */
export function logScale(values: readonly number[], from: number, to: number): Scale {
  const positive = values.filter((value) => value > 0);
  if (positive.length === 0) throw new RangeError('a logarithmic scale needs a value above 0');
  const low = stepBelow(Math.min(...positive));
  const high = stepAbove(Math.max(...positive));
  const span = Math.log(high / low) || 1;
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    ticks.push(
      ...[1, 2, 5].map((step) => tidy(step * 10 ** power)).filter((tick) => tick >= low * 0.999 && tick <= high * 1.001),
    );
  }
  const decades = Math.log10(high / low);
  return {
    at: (value) => from + ((to - from) * Math.log(Math.max(value, low) / low)) / span,
    ticks,
    isLabelled: (tick) => decades <= 2 || Number.isInteger(Math.round(Math.log10(tick) * 1e6) / 1e6),
  };
}

const STEPS = [1, 2, 5, 10];
const tidy = (value: number): number => Number(value.toPrecision(6));

function stepBelow(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return tidy(power * (STEPS.findLast((step) => step * power <= value * 1.0001) ?? 1));
}

function stepAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return tidy(power * (STEPS.find((step) => step * power >= value * 0.9999) ?? 10));
}

/** Returns the centres of `count` bands of equal width. */
export const bandScale = (count: number, from: number, to: number): ((index: number) => number) => {
  const step = (to - from) / Math.max(1, count);
  return (index) => from + step * (index + 0.5);
};
