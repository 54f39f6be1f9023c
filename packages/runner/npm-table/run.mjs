// Runs a program of the table in the pinned Node and in the sandbox: exit code and output, as text to compare.

import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';

const TIMEOUT_MS = 60_000;

const require = createRequire(import.meta.url);

const node = require.resolve(`node-linux-${process.arch}/bin/node`);

// The same in both: nothing of this machine's environment, a time zone that has no summer.
const env = { TZ: 'UTC', HOME: '/tmp' };

/** In Node, in the folder that holds `node_modules`. */
export function inNode(code, cwd) {
  return new Promise((resolve) => {
    execFile(node, ['--input-type=module', '-e', code], { cwd, env, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      resolve({ exitCode: error?.code ?? 0, stdout, stderr });
    });
  });
}

/** In a runtime of its own, which sees that folder's `node_modules`. */
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
