// The limits of one program in the form of a message.

import type { ProgramLimits } from '../options/limits.js';

/** Returns the limits that are set, or `undefined` if no limit is set. */
export function given(limits: ProgramLimits | undefined): Record<string, number> | undefined {
  if (limits === undefined) return undefined;
  const values = Object.entries(limits).filter((entry): entry is [string, number] => entry[1] !== undefined);
  return values.length === 0 ? undefined : Object.fromEntries(values);
}
