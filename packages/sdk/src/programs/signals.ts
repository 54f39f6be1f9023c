// The names and numbers of Linux's signals.

import { constants } from 'node:os';
import type { SignalName } from '../options/programs.js';
import { rule } from '../options/rule.js';

const NUMBERS: Readonly<Record<string, number | undefined>> = constants.signals;
// Of two names of a signal, such as SIGABRT and SIGIOT, the first name is used.
const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);
const MAX_SIGNAL = 64;

/** Returns the number of a signal that is given by name or number. */
export const signalNumber = (signal: unknown): unknown => (typeof signal === 'string' ? NUMBERS[signal] : signal);

/** Returns the name of a signal. A real-time signal is named by its number, such as `SIG40`. */
export const signalName = (number: number): SignalName => (NAMES.get(number) ?? `SIG${number}`) as SignalName;

/** Accepts a signal by name or number. */
export const SIGNAL = rule((value) => {
  const number = signalNumber(value);
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= MAX_SIGNAL;
}, "a signal such as 'SIGTERM'");
