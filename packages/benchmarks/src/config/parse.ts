// Text to checked values. Each error names the knob or flag, what was expected and what came.

import { UsageError } from './usage-error.js';

export function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name}: expected a whole number from ${min} to ${max}, got ${JSON.stringify(text)}`);
}

export function positiveNumber(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`${name}: expected a number above 0, got ${JSON.stringify(text)}`);
}

/** A comma-separated list without repeats and without empty places. */
export function list<T>(name: string, text: string, parse: (item: string) => T): T[] {
  const values = text.split(',').map((item) => parse(item.trim()));
  if (new Set(values).size < values.length) {
    throw new UsageError(`${name}: expected each value once, got ${JSON.stringify(text)}`);
  }
  return values;
}
