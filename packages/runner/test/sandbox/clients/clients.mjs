// Runs the programs of npm-clients against servers of the host machine, in the pinned Node and in
// the sandbox. Each run has a server of its own, so that both runs meet equal state.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pinnedNode } from '@coldframe/pinned-node';
import { NodeRuntime, Sidecar } from 'coldframe';
import { afterAll, beforeAll, expect } from 'vitest';
import { folder, packages } from '../../../npm-clients/packages.mjs';

/** The time in which a client's test must end, and the time of each of its two runs. */
export const CLIENT_MS = 90_000;
const PROGRAM_MS = 40_000;

/** An address of this machine that is not the loopback; undefined on a machine without one. */
export const HOST = Object.values(networkInterfaces())
  .flat()
  .find((one) => !one.internal && one.family === 'IPv4')?.address;

let sidecar;

/** Starts the sidecar of a test file before its tests. */
export function useSidecar() {
  beforeAll(async () => {
    sidecar = await Sidecar.spawn();
  });
  afterAll(() => sidecar?.dispose());
}

export const codeOf = (program) => readFileSync(join(folder, 'programs', `${program}.mjs`), 'utf8');

/** Creates a runtime that may connect to `ports` of this machine. The caller disposes it. */
export const createRuntime = (ports, options = {}) =>
  NodeRuntime.create({
    sidecar,
    nodeModules: `${packages}/node_modules`,
    network: { private: ports.map((port) => `${HOST}:${port}`) },
    limits: { memoryBytes: 512 << 20, cpuMs: CLIENT_MS },
    ...options,
  });

async function inSandbox(program, ports, options, check) {
  const runtime = await createRuntime(ports, options);
  try {
    const { exitCode, stdout, stderr, error } = await runtime.exec(codeOf(program), { timeout: PROGRAM_MS });
    await check?.(runtime, sidecar);
    return { exitCode, stdout, stderr: error === undefined ? stderr : `${error.code}: ${error.message}\n${stderr}` };
  } finally {
    await runtime.dispose();
  }
}

function inNode(program, env) {
  const work = mkdtempSync(join(tmpdir(), 'coldframe-client-'));
  return new Promise((resolve) => {
    const args = ['--input-type=module', '-e', codeOf(program)];
    const options = { cwd: packages, env: { ...env, HOME: work, TMPDIR: work }, timeout: PROGRAM_MS };
    execFile(pinnedNode().binary, args, options, (error, stdout, stderr) => {
      rmSync(work, { recursive: true, force: true });
      resolve({ exitCode: error?.killed ? 'killed' : (error?.code ?? 0), stdout, stderr });
    });
  });
}

/**
 * Runs `program` in Node and in the sandbox. `start` starts the server of a run, and returns its
 * `ports`, the environment `env` of the program, and `close`. `nodeEnv` has more variables for
 * Node, `options` has options of the runtime, and `check` is called before the runtime is disposed.
 * Both runs must print the text of the file `programs/NAME.txt`. With `UPDATE_FIXTURES=1` the run
 * in Node writes the file.
 */
export async function expectOutput(program, start) {
  const file = join(folder, 'programs', `${program}.txt`);
  for (const place of ['Node', 'the sandbox']) {
    const { ports, env, nodeEnv, options, check, close } = await start();
    try {
      const all = { TZ: 'UTC', ...env };
      const run = {
        Node: () => inNode(program, { ...all, ...nodeEnv }),
        'the sandbox': () => inSandbox(program, ports, { ...options, env: { ...all, ...options?.env } }, check),
      };
      const result = await run[place]();
      if (place === 'Node' && process.env.UPDATE_FIXTURES === '1') writeFileSync(file, result.stdout);
      expect({ place, ...result }).toEqual({ place, exitCode: 0, stdout: readFileSync(file, 'utf8'), stderr: '' });
    } finally {
      await close();
    }
  }
}
