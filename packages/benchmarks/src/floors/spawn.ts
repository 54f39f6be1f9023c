// Floors of starting a process, from `spawn()` to its exit.

import { spawn } from 'node:child_process';
import { now } from '../stats/timer.js';
import type { FloorDefinition } from './floor.js';

/** `path` is looked up when the floor is opened, so that a missing program fails this floor alone. */
export const spawnFloor = (name: string, what: string, path: () => string, args: string[]): FloorDefinition => ({
  name,
  what,
  repeat: 1,
  open: async () => {
    const program = path();
    return { measure: () => spawnToExit(program, args) };
  },
});

function spawnToExit(program: string, args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    // Node's own variables would slow its start down: a floor is the best that the other side can do.
    const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env;
    const startedAt = now();
    const child = spawn(program, args, { stdio: 'ignore', env });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      const elapsed = now() - startedAt;
      if (code === 0) resolve(elapsed);
      else reject(new Error(`${program} ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}
