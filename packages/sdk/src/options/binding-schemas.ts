// The same as zod schemas, for the words of a refusal. Loaded with `schemas.ts`.

import * as z from 'zod/mini';
import { BINDING_NAME, BINDING_WHOLE, isExample, isSchema, MAX_ALIASES } from './bindings.js';

const NAME = "a name: a letter, then letters, digits, '_', '.' or '-', 64 at most";
const MAP = 'a map of names to bindings: { description, inputSchema, handler, ... }';

function whole(option: keyof typeof BINDING_WHOLE, unit: string) {
  const { min, max } = BINDING_WHOLE[option];
  const error = `a whole number of ${unit} from ${min} to ${max}`;
  return z.optional(z.int({ error }).check(z.gte(min, { error }), z.lte(max, { error })));
}

const name = z.string({ error: NAME }).check(z.regex(BINDING_NAME, { error: NAME }));
const ALIASES = `a list of at most ${MAX_ALIASES} names`;
const EXAMPLES = 'a list of examples: { description?, input }';

/** One definition. */
export const binding = z.strictObject(
  {
    description: z.string({ error: 'text' }),
    inputSchema: z.custom<unknown>(isSchema, { error: 'a JSON Schema or a schema of zod' }),
    handler: z.custom<unknown>((value) => typeof value === 'function', { error: 'a function' }),
    timeoutMs: whole('timeoutMs', 'milliseconds'),
    maxConcurrency: whole('maxConcurrency', 'calls'),
    maxInputBytes: whole('maxInputBytes', 'bytes'),
    maxOutputBytes: whole('maxOutputBytes', 'bytes'),
    command: z.optional(z.boolean({ error: 'true or false' })),
    examples: z.optional(z.array(z.custom<unknown>(isExample, { error: EXAMPLES }), { error: EXAMPLES })),
    commandAliases: z.optional(z.array(name, { error: ALIASES }).check(z.maxLength(MAX_ALIASES, { error: ALIASES }))),
  },
  {
    error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'a binding: { description, inputSchema, handler, ... }'),
  },
);

/** All of them. */
export const bindings = z.optional(z.record(name, binding, { error: MAP }));
