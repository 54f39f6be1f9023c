// Runs a program of the table in the pinned Node and in the sandbox, and returns exit code and
// output as text for comparison.

import { execFile } from 'node:child_process';
import { pinnedNode } from '@coldframe/pinned-node';

const TIMEOUT_MS = 60_000;

const node = pinnedNode().binary;

// Equal in both runs: nothing of this machine's environment, and a time zone without summer time.
const env = { TZ: 'UTC', HOME: '/tmp' };

/** Runs a program in Node, in the folder that contains `node_modules`. */
export function inNode(code, cwd) {
  return new Promise((resolve) => {
    execFile(node, ['--input-type=module', '-e', code], { cwd, env, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      resolve({ exitCode: error?.code ?? 0, stdout, stderr });
    });
  });
}

/** Runs a program in a runtime of its own, which mounts that folder's `node_modules`. */
export async function inSandbox({ NodeRuntime }, sidecar, code, cwd) {
  const limits = { memoryBytes: 512 << 20, cpuMs: TIMEOUT_MS };
  const runtime = await NodeRuntime.create({ sidecar, env, limits, nodeModules: `${cwd}/node_modules` });
  try {
    const { exitCode, stdout, stderr, error } = await runtime.exec(code, { timeout: TIMEOUT_MS });
    return { exitCode, stdout, stderr: error === undefined ? stderr : `${error.code}: ${error.message}\n${stderr}` };
  } finally {
    await runtime.dispose();
  }
}
