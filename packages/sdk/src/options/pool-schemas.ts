// The options of a pool's calls as zod schemas.

import * as z from 'zod/mini';
import { POOL_WHOLE } from './pool.js';
import { isName } from './snapshots.js';

function strict<T extends z.core.$ZodLooseShape>(shape: T) {
  const error = 'an object with options';
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : error) });
}

const { min, max, unit } = POOL_WHOLE.timeoutMs;
const error = `a whole number of ${unit} from ${min} to ${max}`;
const acquire = strict({
  tenant: z.optional(z.custom<string>(isName, { error: 'a tenant (1 to 200 characters)' })),
  signal: z.optional(z.custom<AbortSignal>((value) => value instanceof AbortSignal, { error: 'an AbortSignal' })),
});

/** By the calls that they belong to. */
export const POOL_SCHEMAS = {
  'acquire()': acquire,
  'withRuntime()': acquire,
  'RuntimePool.dispose()': strict({
    timeoutMs: z.optional(z.int({ error }).check(z.gte(min, { error }), z.lte(max, { error }))),
  }),
};
