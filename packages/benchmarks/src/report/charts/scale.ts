// Scales: from a value to a place on the drawing, with the ticks of its axis.

export interface Scale {
  at(value: number): number;
  ticks: number[];
  /** Ticks that are worth a label. */
  isLabelled(tick: number): boolean;
}

/** Logarithmic from the power of ten at or below the smallest value to 1, 2 or 5 × a power of ten above the largest. */
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

/** Evenly spaced places for names. */
export const bandScale = (count: number, from: number, to: number): ((index: number) => number) => {
  const step = (to - from) / Math.max(1, count);
  return (index) => from + step * (index + 0.5);
};
