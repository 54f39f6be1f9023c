// Collections of functions of the app (secure-exec 0.2.21) as bindings of the SDK. The function
// `list` of the collection `orders` is the binding `orders.list`. In the guest, the global `orders`
// has the method `list`, and the command `agentos-orders` has the subcommand `list`.

import type { BindingDefinition, StandardSchema } from '../index.js';
import { CALLBACK, mapOf, type Rule, whole } from '../options/rule.js';
import { type OptionTable, objectWith, required } from '../options/table.js';
import { PASSED_ON } from './rules.js';

/** An input that shows the use of a function. */
export interface HostFunctionExample {
  description: string;
  input: unknown;
}

/** A function of the app. */
export interface HostFunction {
  /** A schema of zod 4 or another Standard Schema. Its `description` describes the function. */
  inputSchema: StandardSchema;
  // biome-ignore lint/suspicious/noExplicitAny: the schema says what the input is
  execute(input: any): unknown;
  examples?: readonly HostFunctionExample[] | undefined;
  /** Milliseconds. @default 30_000 */
  timeout?: number | undefined;
}

/** Functions of the app by name. */
export type HostFunctionCollection = Readonly<Record<string, HostFunction>>;
/** Collections by name. */
export type HostFunctionCollections = Readonly<Record<string, HostFunctionCollection>>;

const NAME = /^[A-Za-z][\w]*$/;
const NAME_EXPECTED = 'a name: a letter, then letters, digits or "_"';
const FUNCTION: OptionTable<HostFunction> = {
  inputSchema: required(PASSED_ON),
  execute: required(CALLBACK),
  examples: PASSED_ON,
  timeout: whole(1, 300_000, 'milliseconds'),
};
const COLLECTION = mapOf(NAME, objectWith(FUNCTION), 'a map of names to functions', NAME_EXPECTED);

/** Accepts collections. */
export const HOST_FUNCTIONS: Rule = mapOf(NAME, COLLECTION, 'a map of names to collections of functions', NAME_EXPECTED);

/** Returns the bindings of checked collections. */
export function bindingsOf(collections: HostFunctionCollections): Record<string, BindingDefinition> {
  const entries = Object.entries(collections).flatMap(([collection, functions]) =>
    Object.entries(functions).map(([name, hostFunction]) => [`${collection}.${name}`, bindingOf(hostFunction)]),
  );
  return Object.fromEntries(entries);
}

function bindingOf({ inputSchema, execute, examples, timeout }: HostFunction): BindingDefinition {
  const { description } = inputSchema as { description?: unknown };
  return {
    description: typeof description === 'string' ? description : '',
    inputSchema,
    handler: (input) => execute(input),
    ...(examples && { examples }),
    ...(timeout && { timeoutMs: timeout }),
  };
}

/** Returns code that defines a global for each collection. */
export function globalsOf(collections: HostFunctionCollections): string {
  return Object.entries(collections)
    .map(([collection, functions]) => {
      const methods = Object.keys(functions).map((name) => `${name}: (input) => callBinding('${collection}.${name}', input)`);
      return `globalThis.${collection} ??= Object.freeze({ ${methods.join(', ')} }); `;
    })
    .join('');
}

/** Returns the scripts of the commands by their guest paths. */
export function commandsOf(collections: HostFunctionCollections): Map<string, string> {
  const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replace(/^-/, '');
  const scripts = Object.entries(collections).map(([collection, functions]): [string, string] => {
    const command = `agentos-${kebab(collection)}`;
    const cases = Object.keys(functions).map((name) => `  ${kebab(name)}) shift; ${collection}.${name} "$@" ;;`);
    const lines = ['#!/bin/sh', 'case "$1" in', ...cases, `  *) echo "${command}: no such function: $1" >&2; exit 1 ;;`, 'esac'];
    return [`/usr/local/bin/${command}`, `${lines.join('\n')}\n`];
  });
  return new Map(scripts);
}
