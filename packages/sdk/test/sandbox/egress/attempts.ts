// Programs that try to reach a target, and return the result of each attempt. A result is
// `connected`, the status of a response, or the code of an error and the reason of a denial.

import { afterAll, beforeAll } from 'vitest';
import { type NetworkOptions, NodeRuntime, type NodeRuntimeOptions, Sidecar } from '../../../src/index.js';
import { HOST_ADDRESS } from '../outside-helpers.js';

/** Limits that no test reaches by the number of its connections. */
export const FAST = { connectsPerSecond: 100_000 };

/** Options that open a port of this machine, and the names below example.com at any port. */
export const openPort = (port: number, dnsPort: number): NetworkOptions => ({
  allow: ['*.example.com:*'],
  private: [`${HOST_ADDRESS}:${port}`],
  dns: { servers: [`127.0.0.1:${dnsPort}`] },
  limits: FAST,
});

type InRuntime = (
  network: NetworkOptions,
  work: (runtime: NodeRuntime, sidecar: Sidecar) => Promise<void>,
  options?: NodeRuntimeOptions,
) => Promise<void>;

/**
 * Starts a sidecar for the tests of a file. Returns a function that calls `work` with a runtime.
 */
export function useSidecar(): InRuntime {
  let sidecar: Sidecar;
  beforeAll(async () => {
    sidecar = await Sidecar.spawn();
  });
  afterAll(() => sidecar.dispose());
  return async (network, work, options = {}) => {
    const runtime = await NodeRuntime.create({ ...options, sidecar, network });
    try {
      await work(runtime, sidecar);
    } finally {
      await runtime.dispose();
    }
  };
}

/** The results of attempts that the sandbox denies. `E-13` is the number of `EACCES`. */
export const DENIAL = /^(EACCES|E-13|ENOTFOUND|EADDRNOTAVAIL)\b/;

/** A target of a connection. */
export interface Target {
  host: string;
  port: number;
}

async function results(runtime: NodeRuntime, code: string): Promise<string[]> {
  const { stdout, stderr } = await runtime.exec(code);
  if (stderr !== '') throw new Error(stderr.slice(0, 2_000));
  return JSON.parse(stdout);
}

const REASON = `const reasonOf = (error) => {
  const cause = error.cause?.errors?.[0] ?? error.cause ?? error.errors?.[0] ?? error;
  return [cause.code ?? cause.name, cause.reason].filter(Boolean).join(' ');
};`;

/** Connects to each target, one after the other. */
export const connects = (runtime: NodeRuntime, targets: readonly Target[]): Promise<string[]> =>
  results(
    runtime,
    `import net from 'node:net';
    ${REASON}
    const all = [];
    for (const target of ${JSON.stringify(targets)}) {
      all.push(await new Promise((resolve, reject) => {
        const socket = net.connect(target, () => { resolve('connected'); socket.destroy(); });
        socket.on('error', reject);
      }).catch(reasonOf));
    }
    console.log(JSON.stringify(all));`,
  );

/** Fetches each URL, one after the other, and follows redirects. */
export const fetches = (runtime: NodeRuntime, urls: readonly string[], options: RequestInit = {}): Promise<string[]> =>
  results(
    runtime,
    `${REASON}
    const all = [];
    for (const url of ${JSON.stringify(urls)}) {
      all.push(await fetch(url, ${JSON.stringify(options)}).then(
        async (response) => response.status + ' ' + (await response.text()),
        reasonOf,
      ));
    }
    console.log(JSON.stringify(all));`,
  );

/** Evaluates `expressions` that return promises, one after the other. */
export const evaluations = (runtime: NodeRuntime, setup: string, expressions: readonly string[]): Promise<string[]> =>
  results(
    runtime,
    `${setup}
    ${REASON}
    const all = [];
    for (const attempt of [${expressions.map((expression) => `async () => ${expression}`).join(',\n')}]) {
      all.push(await attempt().then((value) => 'done ' + JSON.stringify(value), reasonOf));
    }
    console.log(JSON.stringify(all));`,
  );
