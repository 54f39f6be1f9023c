// The two sides of the comparison: the sandbox, through the public SDK, and the pinned Node. The
// guest image contains the library of this Node release.

import { execFile } from 'node:child_process';
import { NodeRuntime, Sidecar } from 'coldframe';
import { pinnedNode } from '../machine/pinned-node.js';

const TIMEOUT_MS = 60_000;
const MEMORY_BYTES = 512 << 20;

export interface Side {
  name: 'sandbox' | 'node';
  /** Resolves with the output of a program. Rejects when the program fails. */
  run(program: string): Promise<string>;
  close(): Promise<void>;
}

export async function openSandbox(): Promise<Side> {
  const sidecar = await Sidecar.spawn();
  return {
    name: 'sandbox',
    async run(program) {
      const runtime = await NodeRuntime.create({ sidecar, limits: { memoryBytes: MEMORY_BYTES, cpuMs: TIMEOUT_MS } });
      try {
        const { stdout, stderr, exitCode, error } = await runtime.exec(program, { timeout: TIMEOUT_MS });
        if (error !== undefined || exitCode !== 0) throw new Error(error?.message ?? errorLine(stderr, exitCode));
        return stdout;
      } finally {
        await runtime.dispose();
      }
    },
    close: () => sidecar.dispose(),
  };
}

export function openNode(): Side {
  const args = (program: string) => ['--input-type=module', '-e', program];
  return {
    name: 'node',
    run: (program) =>
      new Promise((resolve, reject) => {
        execFile(pinnedNode(), args(program), { timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
          if (error) reject(new Error(errorLine(stderr, error.code)));
          else resolve(stdout);
        });
      }),
    close: () => Promise.resolve(),
  };
}

/** Returns the line that names the error, or the beginning of stderr. */
function errorLine(stderr: string, exitCode: unknown): string {
  const named = stderr.split('\n').find((line) => /^[A-Za-z]*Error\b/.test(line));
  return named ?? `exit code ${String(exitCode)}: ${stderr.slice(0, 200)}`;
}
