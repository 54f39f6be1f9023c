// Tests the replies to requests whose sandbox is not running here, the admission of sandboxes, and
// the slices of frozen sandboxes.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import type { Coordinator, Place } from '../src/fleet/coordinator.ts';
import { createFront, type Planes } from '../src/front/front.ts';
import { Admission } from '../src/sandboxes/admission.ts';
import { FrozenSandboxes } from '../src/sandboxes/frozen.ts';

afterEach(() => vi.useRealTimers());

/** Returns the status and the body of the reply to a request to a sandbox that does not run. */
async function replyAt(place: Place, isPaused: boolean): Promise<{ status: number; body: unknown }> {
  const sandboxes = { running: () => undefined, asleep: () => undefined, isPaused: () => isPaused };
  const coordinator: Coordinator = { home: 'ihome0', epoch: 1, locate: () => place };
  const front = createFront({ sandboxes, coordinator, services: new Map() } as unknown as Planes);
  const server = createServer(front.request).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const headers = { 'e2b-sandbox-id': 'ihome0abc', 'e2b-sandbox-port': '8080' };
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers });
  const body = await response.json();
  server.close();
  return { status: response.status, body };
}

test('a sandbox elsewhere, a paused sandbox and an unknown sandbox have different replies', async () => {
  const at = (place: Place, isPaused = false) => replyAt(place, isPaused);
  expect(await at({ url: 'http://other' })).toMatchObject({ status: 421, body: { error_code: 'not_here', url: 'http://other' } });
  expect(await at('here', true)).toMatchObject({ status: 502, body: { error_code: 'sandbox_paused', code: 502 } });
  expect(await at('here')).toMatchObject({ status: 502, body: { error_code: 'sandbox_not_found', code: 502 } });
  expect(await at('unknown')).toMatchObject({ status: 502, body: { message: 'The sandbox was not found' } });
});

test('a server is full by the number of sandboxes, and by the memory that is available', () => {
  let available = 1_000;
  const admission = new Admission({ sandboxes: 2, reserveBytes: 500 }, () => available);
  expect(() => admission.check(1)).not.toThrow();
  expect(() => admission.check(2)).toThrow('the server has 2 sandboxes');
  available = 499;
  const short = new Admission({ sandboxes: 2, reserveBytes: 500 }, () => available);
  expect(() => short.check(0)).toThrow('less than 500 bytes');
  expect(new Admission({ sandboxes: 2, reserveBytes: 0 }, () => available).fullReason(0)).toBeUndefined();
});

test('a cordon ends, and a drain does not', () => {
  const admission = new Admission({ sandboxes: 2, reserveBytes: 0 });
  const codeOf = (): unknown => {
    try {
      admission.check(0);
      return undefined;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  admission.setCordon(true);
  expect(codeOf()).toBe('cordoned');
  admission.setCordon(false);
  expect(codeOf()).toBeUndefined();
  admission.drain();
  admission.setCordon(false);
  expect(codeOf()).toBe('draining');
});

test('a frozen sandbox has slices until it rests, and not more than its budget', async () => {
  vi.useFakeTimers();
  const slices: string[] = [];
  const frozen = new FrozenSandboxes(async (id) => {
    slices.push(id);
    if (id === 'broken') throw new Error('the disk is full');
    return id === 'resting' && slices.filter((one) => one === id).length === 3;
  });
  for (const id of ['resting', 'endless', 'broken']) frozen.add(id);
  await vi.runAllTimersAsync();
  const count = (id: string): number => slices.filter((one) => one === id).length;
  expect([count('resting'), count('endless'), count('broken')]).toEqual([3, 240, 240]);
  await frozen.close();
  frozen.add('late');
  await vi.runAllTimersAsync();
  expect(count('late')).toBe(0);
});
