// Tests the end of a permission listener in every mode: `stop()` delivers every decision that was
// made before the call. Also tests that an app does not end while it waits for decisions.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { NodeRuntime, type PermissionListener, Sidecar } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';

/** More decisions than one message has, and fewer than the queue holds. */
const MANY = 1_000;
const NAMES = Array.from({ length: MANY }, (_, n) => `/n/${n}`);

/** Runs a program that causes `count` decisions, about `/n/0` and the next names. */
const decide = (runtime: NodeRuntime, count = MANY) =>
  runtime.exec(`const fs = process.getBuiltinModule('node:fs'); for (let n = 0; n < ${count}; n++) fs.existsSync('/n/' + n);`);

/** Returns a listener that appends the resources of the test's decisions to `names`. */
const recordTo =
  (names: string[]): PermissionListener =>
  ({ resource }) => {
    if (resource.startsWith('/n/')) names.push(resource);
  };

describe.each(MODES)('$name', (mode) => {
  test('stop() delivers every earlier decision once and in order, and another listener continues', () =>
    withRuntime(mode, {}, async (runtime) => {
      const [names, others]: [string[], string[]] = [[], []];
      let lost = 0;
      const count = (more: number): void => {
        lost += more;
      };
      const stop = await runtime.onPermission(recordTo(names), count);
      const stopOther = await runtime.onPermission(recordTo(others), count);
      await decide(runtime);
      await stop();
      expect(names).toEqual(NAMES);
      await decide(runtime, 200);
      await stopOther();
      expect(names).toEqual(NAMES);
      expect(others).toEqual([...NAMES, ...NAMES.slice(0, 200)]);
      expect(lost).toBe(0);
      await decide(runtime, 1);
      const stopLater = await runtime.onPermission(recordTo(names));
      await stopLater();
      expect(names).toEqual(NAMES);
    }));

  test('stop() reports the lost decisions, and each other decision arrives once', () =>
    withRuntime(mode, {}, async (runtime) => {
      const made = async (count: number): Promise<{ names: string[]; received: number; lost: number }> => {
        const names: string[] = [];
        const record = recordTo(names);
        let [received, lost] = [0, 0];
        const stop = await runtime.onPermission(
          (event) => {
            received++;
            record(event);
            const until = performance.now() + 0.1;
            while (performance.now() < until);
          },
          (more) => {
            lost += more;
          },
        );
        await decide(runtime, count);
        await stop();
        return { names, received, lost };
      };
      const start = await made(0);
      expect(start).toMatchObject({ names: [], lost: 0 });
      const { names, received, lost } = await made(30_000);
      expect(lost).toBeGreaterThan(0);
      expect(received + lost).toBe(start.received + 30_000);
      expect(new Set(names).size).toBe(names.length);
      expect(names).toEqual(
        names
          .map((name) => Number(name.slice(3)))
          .sort((a, b) => a - b)
          .map((n) => `/n/${n}`),
      );
      expect(names.slice(0, 100)).toEqual(NAMES.slice(0, 100));
    }));

  test('repeated calls of stop() end together', () =>
    withRuntime(mode, {}, async (runtime) => {
      const names: string[] = [];
      const stop = await runtime.onPermission(recordTo(names));
      await decide(runtime);
      await Promise.all([stop(), stop()]);
      expect(names).toEqual(NAMES);
      await stop();
      await decide(runtime);
      expect(names).toEqual(NAMES);
    }));

  test('a listener that calls stop() receives its decisions in order', () =>
    withRuntime(mode, {}, async (runtime) => {
      const names: string[] = [];
      const record = recordTo(names);
      let stopped: Promise<void> | undefined;
      const stop = await runtime.onPermission((event) => {
        record(event);
        if (event.resource === '/n/5') stopped = stop();
      });
      const all: string[] = [];
      const stopAll = await runtime.onPermission(recordTo(all));
      await decide(runtime);
      await stopAll();
      await stopped;
      expect(names).toEqual(NAMES.slice(0, names.length));
      expect(names.length).toBeGreaterThan(5);
      expect(all).toEqual(NAMES);
    }));

  test('stop() delivers the decisions from before a rollback or a pause', () =>
    withRuntime(mode, {}, async (runtime) => {
      const names: string[] = [];
      const start = await runtime.snapshot();
      const stopFirst = await runtime.onPermission(recordTo(names));
      await decide(runtime);
      await runtime.rollback(start);
      await stopFirst();
      expect(names).toEqual(NAMES);

      const stopSecond = await runtime.onPermission(recordTo(names));
      await decide(runtime);
      const paused = await runtime.pause();
      await stopSecond();
      expect(names).toEqual([...NAMES, ...NAMES]);
      await runtime.resume();
      await decide(runtime, 1);

      const stopThird = await runtime.onPermission(recordTo(names));
      await decide(runtime);
      await stopThird();
      expect(names).toEqual([...NAMES, ...NAMES, ...NAMES]);
      await Promise.all([start.delete(), paused.delete()]);
    }));

  test('stop() during and after dispose() resolves', () =>
    withMode(mode, async ({ create }) => {
      const runtime = await create();
      const names: string[] = [];
      const [stopDuring, stopAfter] = [await runtime.onPermission(recordTo(names)), await runtime.onPermission(() => {})];
      await decide(runtime);
      const stopping = stopDuring();
      await Promise.all([runtime.dispose(), stopping, stopDuring()]);
      expect(names).toEqual(NAMES);
      await stopAfter();
      const second = await create();
      const stopSecond = await second.onPermission(() => {});
      const disposing = second.dispose();
      await Promise.all([stopSecond(), disposing]);
    }));
});

test('stop() after the end of the sidecar resolves', async () => {
  const sidecar = await Sidecar.spawn();
  const runtime = await NodeRuntime.create({ sidecar });
  const stop = await runtime.onPermission(() => {});
  process.kill(sidecar.pid, 'SIGKILL');
  await stop();
  await sidecar.dispose();
});

// Runs `test/fixtures/listening-app.mjs` and returns its stdout. Rejects unless the exit code is 0.
async function runApp(...args: string[]): Promise<string> {
  const path = fileURLToPath(new URL('../fixtures/listening-app.mjs', import.meta.url));
  return (await promisify(execFile)(process.execPath, [path, ...args])).stdout;
}

describe.each(['owned', 'shared', 'embedded', 'inline'])('an app with %s runtimes', (mode) => {
  test('does not end before stop() has delivered every decision', async () => {
    expect(await runApp(mode, 'stop')).toBe('1000 decisions, 1000 errors\n');
  });

  test('does not end while the sidecar holds the decision that the app awaits', async () => {
    expect(await runApp(mode, 'await')).toBe('/n/999\n');
  });

  test('ends although a listener is registered', async () => {
    expect(await runApp(mode, 'listen')).toBe('listening\n');
  });
});
