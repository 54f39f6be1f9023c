// A definition made ready: its defaults are filled in, its schema is a function, and what the guest may read of it is text. Next: `service.ts`.

import { invalidOption } from '../errors/make.js';
import { Gate } from './gate.js';
import type { BindingContext, BindingDefinition, Bindings, JsonSchema, StandardSchema } from './types.js';
import { isStandard, type Validate, validatorOf } from './validator.js';

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_CONCURRENCY = 64;
const DEFAULT_BYTES = 1_048_576;

/** See above. */
export interface Binding {
  readonly name: string;
  /** Its commands: its name, unless it has none of that, and the aliases. */
  readonly commands: readonly string[];
  readonly validate: Validate;
  readonly handler: (input: unknown, context: BindingContext) => unknown;
  readonly gate: Gate;
  readonly timeoutMs: number;
  readonly maxInputBytes: number;
  readonly maxOutputBytes: number;
  /** What the guest is told of it: `description`, `inputSchema`, `examples`, as JSON. */
  readonly description: string;
}

/** Checked definitions as bindings. Rejects with `ERR_INVALID_OPTION` when a schema cannot be used. `where`: the call, for messages. */
export const bindingsOf = (where: string, definitions: Bindings): Promise<Binding[]> =>
  Promise.all(Object.entries(definitions).map(([name, definition]) => bindingOf(where, name, definition)));

export async function bindingOf(where: string, name: string, definition: BindingDefinition): Promise<Binding> {
  const { inputSchema, command = true, commandAliases = [], examples, description } = definition;
  const wrong = (option: string, reason: unknown) =>
    invalidOption(where, {
      option: `bindings.${name}.${option}`,
      expected: option === 'inputSchema' ? 'a JSON Schema or a schema of zod' : 'JSON',
      received: `one that cannot be used (${(reason as Error)?.message ?? reason})`,
    });
  let validate: Validate;
  try {
    validate = await validatorOf(name, inputSchema);
  } catch (error) {
    throw wrong('inputSchema', error);
  }
  let text: string;
  try {
    text = JSON.stringify({ description, inputSchema: await jsonOf(inputSchema), examples });
  } catch (error) {
    throw wrong('examples', error);
  }
  return {
    name,
    commands: [...new Set([...(command ? [name] : []), ...commandAliases])],
    validate,
    handler: (input, context) => definition.handler(input, context),
    gate: new Gate(definition.maxConcurrency ?? DEFAULT_CONCURRENCY),
    timeoutMs: definition.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxInputBytes: definition.maxInputBytes ?? DEFAULT_BYTES,
    maxOutputBytes: definition.maxOutputBytes ?? DEFAULT_BYTES,
    description: text,
  };
}

// A library's schema says itself what it is as JSON Schema, or zod can say it of one of its own; else the guest is not told.
async function jsonOf(schema: JsonSchema | StandardSchema): Promise<unknown> {
  if (!isStandard(schema)) return schema;
  try {
    const { jsonSchema, vendor } = schema['~standard'] as { jsonSchema?: { input(options: object): unknown }; vendor: string };
    if (jsonSchema !== undefined) return jsonSchema.input({ target: 'draft-2020-12' });
    if (vendor !== 'zod') return undefined;
    const { toJSONSchema } = await import('zod/mini');
    return toJSONSchema(schema as unknown as Parameters<typeof toJSONSchema>[0], { io: 'input', unrepresentable: 'any' });
  } catch {
    return undefined;
  }
}
