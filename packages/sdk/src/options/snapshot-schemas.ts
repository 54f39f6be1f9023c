// The options of calls about snapshots as zod schemas.

import * as z from 'zod/mini';
import { HOST_PATH } from './bounds.js';
import { isLabels, isReference, MAX_LABELS, NAME, SNAPSHOT_NAME, SNAPSHOT_WHOLE } from './snapshots.js';

function whole(option: keyof typeof SNAPSHOT_WHOLE, unit: string) {
  const { min, max } = SNAPSHOT_WHOLE[option];
  const error = `a whole number of ${unit} from ${min} to ${max}`;
  return z.optional(z.int({ error }).check(z.gte(min, { error }), z.lte(max, { error })));
}

function custom<T>(test: (value: unknown) => boolean, error: string) {
  return z.optional(z.custom<T>(test, { error }));
}

function strict<T extends z.core.$ZodLooseShape>(shape: T, error = 'an object with options') {
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : error) });
}

function text(pattern: RegExp, error: string) {
  return z.optional(z.string({ error }).check(z.regex(pattern, { error })));
}

const SHORT = 'text of 1 to 200 characters without NUL and lone surrogates';
const timeoutMs = whole('timeoutMs', 'milliseconds');
const callback = custom((value) => typeof value === 'function', 'a function');

/** `tenant` of `NodeRuntime.create()` and of the calls below. */
export const tenant = text(NAME, SHORT);

/** `snapshot` of `NodeRuntime.create()`. */
export const snapshot = custom(isReference, 'a Snapshot, or the id or name of one (1 to 200 characters)');

/** `snapshots` of a sidecar. */
export const snapshotStore = strict(
  {
    directory: z.optional(
      z.string({ error: 'a folder of this machine' }).check(z.regex(HOST_PATH, { error: 'a folder of this machine' })),
    ),
    maxBytes: whole('maxBytes', 'bytes'),
    memoryBytes: whole('memoryBytes', 'bytes'),
  },
  'an object with options of the store',
);

/** By the calls that they belong to. */
export const SNAPSHOT_SCHEMAS = {
  'snapshot()': strict({
    name: text(SNAPSHOT_NAME, `${SHORT} that is no id of a snapshot`),
    labels: custom(
      isLabels,
      `a map of at most ${MAX_LABELS} names (none is __proto__) to text, each of 1,000 characters at most`,
    ),
    store: custom((value) => value === 'memory' || value === 'disk', "'memory' or 'disk'"),
    timeoutMs,
  }),
  'clone()': strict({
    timeoutMs,
    settle: z.optional(z.boolean({ error: 'true or false' })),
  }),
  'pause()': strict({ timeoutMs }),
  'snapshots.list()': strict({ tenant }),
  'snapshots.get()': strict({ tenant }),
  'snapshots.delete()': strict({ tenant }),
  'snapshots.export()': strict({ tenant }),
  'snapshots.import()': strict({ tenant }),
  'attach()': strict({
    onStdout: callback,
    onStderr: callback,
    signal: custom((value) => value instanceof AbortSignal, 'an AbortSignal'),
  }),
};
