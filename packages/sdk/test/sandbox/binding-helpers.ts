// Makes bindings for tests, and reads the error that a guest gets from a failing call.

import { expect } from 'vitest';
import { deferred } from '../../src/deferred.js';
import type { BindingContext, BindingDefinition, Bindings, NodeRuntime } from '../../src/index.js';
import type { Provisioning } from './modes.js';

export const ANY = { description: 'a test', inputSchema: true } as const;

/** Makes a binding that accepts any input. */
export const binding = (handler: BindingDefinition['handler'], more: Partial<BindingDefinition> = {}): BindingDefinition => ({
  ...ANY,
  handler,
  ...more,
});

/** A binding that returns `null`. */
export const ANY_BINDING = binding(() => null);

/** Makes a handler that never ends by itself, and records the reasons of its signal. */
export function endless() {
  const reasons: unknown[] = [];
  const [beginning, end] = [deferred<void>(), deferred<void>()];
  const handler = (_: unknown, { signal }: BindingContext) =>
    new Promise(() => {
      signal.addEventListener('abort', () => {
        reasons.push(signal.reason);
        end.resolve();
      });
      beginning.resolve();
    });
  return { handler, reasons, beginning: beginning.promise, end: end.promise };
}

/** Returns code that makes a call and prints the error of the call. */
const caught = (call: string): string =>
  `try { console.log('no error', await ${call}) } catch (e) {
    console.log(JSON.stringify({ ...e, name: e.name, message: e.message, stack: e.stack }))
  }`;

/** Returns the fields of the error that a call throws in the guest. */
export async function rejection(runtime: NodeRuntime, call: string): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await runtime.exec(caught(call));
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Runs `work` with a runtime that has `bindings`. */
export async function withBindings<T>(
  provisioning: Provisioning,
  bindings: Bindings,
  work: (runtime: NodeRuntime) => Promise<T>,
): Promise<T> {
  const runtime = await provisioning.create({ bindings });
  try {
    return await work(runtime);
  } finally {
    await runtime.dispose();
  }
}
