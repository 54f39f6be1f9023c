// Bindings for tests, and what a guest sees of a call that fails.

import { expect } from 'vitest';
import { deferred } from '../../src/deferred.js';
import type { BindingContext, BindingDefinition, Bindings, NodeRuntime } from '../../src/index.js';
import type { Provisioning } from './modes.js';

export const ANY = { description: 'a test', inputSchema: true } as const;

/** One that takes any input. */
export const binding = (handler: BindingDefinition['handler'], more: Partial<BindingDefinition> = {}): BindingDefinition => ({
  ...ANY,
  handler,
  ...more,
});

/** One that gives nothing. */
export const ANY_BINDING = binding(() => null);

/** A handler that never ends by itself, and what becomes of its signal. */
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

/** A program that prints what a call rejects with. */
const caught = (call: string): string =>
  `try { console.log('no error', await ${call}) } catch (e) { console.log(JSON.stringify({ ...e, name: e.name, message: e.message, stack: e.stack })) }`;

/** What a call rejects with, as the guest sees it. */
export async function rejection(runtime: NodeRuntime, call: string): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await runtime.exec(caught(call));
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Runs `work` with a runtime that has these bindings. */
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
