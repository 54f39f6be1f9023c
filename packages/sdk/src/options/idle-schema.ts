// The option `idle` as a zod schema.

import * as z from 'zod/mini';
import { IDLE_WHOLE } from './idle.js';

const { min, max } = IDLE_WHOLE;
const error = `a whole number of milliseconds from ${min} to ${max}`;
const action = "'pause' or 'dispose'";
const shape = "{ afterMs, action: 'pause' | 'dispose', onError? }";

export const idle = z.optional(
  z.strictObject(
    {
      afterMs: z.int({ error }).check(z.gte(min, { error }), z.lte(max, { error })),
      action: z.custom<'pause' | 'dispose'>((value) => value === 'pause' || value === 'dispose', { error: action }),
      onError: z.optional(z.custom<(error: unknown) => void>((value) => typeof value === 'function', { error: 'a function' })),
    },
    { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : shape) },
  ),
);
