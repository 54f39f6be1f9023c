// Converts the app's definitions of bindings to bindings that are ready for calls. In these
// bindings, defaults are filled in, the schema is a function, and the description for the guest is
// text. Next: `service.ts`.

import { invalidOption } from '../errors/make.js';
import {
  type BindingContext,
  type BindingDefinition,
  type Bindings,
  isStandardSchema,
  type JsonSchema,
  type StandardSchema,
} from '../options/bindings.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { type Validate, validatorOf } from './validator.js';

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_CONCURRENCY = 64;
const DEFAULT_BYTES = 1_048_576;

/** A binding ready for calls. */
export interface Binding {
  readonly name: string;
  /**
   * The names of the binding's commands: the name of the binding, unless `command` is false, and
   * the aliases.
   */
  readonly commands: readonly string[];
  readonly validate: Validate;
  readonly handler: (input: unknown, context: BindingContext) => unknown;
  readonly concurrency: ConcurrencyLimit;
  readonly timeoutMs: number;
  readonly maxInputBytes: number;
  readonly maxOutputBytes: number;
  /** The description for the guest: `description`, `inputSchema` and `examples` as JSON. */
  readonly description: string;
}

/**
 * Converts checked definitions to bindings. Rejects with `ERR_INVALID_OPTION` if a schema cannot be
 * evaluated, or if an example is not JSON. `call` is the name of the public call in the error's
 * message.
 */
export const bindingsOf = (call: string, definitions: Bindings): Promise<Binding[]> =>
  Promise.all(Object.entries(definitions).map(([name, definition]) => bindingOf(call, name, definition)));

export async function bindingOf(call: string, name: string, definition: BindingDefinition): Promise<Binding> {
  const { inputSchema, command = true, commandAliases = [], examples, description } = definition;
  const unusable = (option: string, reason: unknown) =>
    invalidOption(call, {
      option: `bindings.${name}.${option}`,
      expected: option === 'inputSchema' ? 'a JSON Schema or a schema of zod' : 'JSON',
      received: `one that cannot be used (${(reason as Error)?.message ?? reason})`,
    });
  let validate: Validate;
  try {
    validate = await validatorOf(name, inputSchema);
  } catch (error) {
    throw unusable('inputSchema', error);
  }
  let text: string;
  try {
    text = JSON.stringify({ description, inputSchema: await jsonSchemaOf(inputSchema), examples });
  } catch (error) {
    throw unusable('examples', error);
  }
  return {
    name,
    commands: [...new Set([...(command ? [name] : []), ...commandAliases])],
    validate,
    handler: (input, context) => definition.handler(input, context),
    concurrency: new ConcurrencyLimit(definition.maxConcurrency ?? DEFAULT_CONCURRENCY),
    timeoutMs: definition.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxInputBytes: definition.maxInputBytes ?? DEFAULT_BYTES,
    maxOutputBytes: definition.maxOutputBytes ?? DEFAULT_BYTES,
    description: text,
  };
}

// Returns a JSON Schema unchanged. Converts a schema of a library by the schema's own method, or by
// a function of zod. Returns `undefined` for any other schema, so that the guest's description has
// no schema.
async function jsonSchemaOf(schema: JsonSchema | StandardSchema): Promise<unknown> {
  if (!isStandardSchema(schema)) return schema;
  try {
    const { jsonSchema, vendor } = schema['~standard'] as { jsonSchema?: { input(options: object): unknown }; vendor: string };
    if (jsonSchema !== undefined) return jsonSchema.input({ target: 'draft-2020-12' });
    if (vendor !== 'zod') return undefined;
    const { toJSONSchema } = await import('./zod-json-schema.js');
    return toJSONSchema(schema as unknown as Parameters<typeof toJSONSchema>[0], { io: 'input', unrepresentable: 'any' });
  } catch {
    return undefined;
  }
}
