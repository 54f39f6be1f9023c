// Runs a program of the network benchmark in a runtime and in the pinned Node, in turns.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type NetworkOptions, NodeRuntime, type Sidecar } from 'coldframe';
import { environmentForNode, pinnedNode } from '../machine/pinned-node.js';
import type { PeerPorts } from './peer.js';

const TIMEOUT_MS = 60_000;
const ROUNDS = 5;

/** The samples of both sides in milliseconds. */
export interface BothSides {
  sandbox: number[];
  node: number[];
}

/** The options of a runtime that reaches the peer. */
export function towardsPeer({ host, echo, http, stream, dns }: PeerPorts): NetworkOptions {
  return {
    private: [echo, http, stream].map((port) => `${host}:${port}`),
    allow: ['*.bench.test:80'],
    dns: { servers: [`${host}:${dns}`] },
    limits: { connectsPerSecond: 100_000, bytesPerSecond: 100_000_000_000 },
  };
}

/** Runs `program` in turns in a fresh runtime and in a fresh process of Node. */
export async function runBoth(program: string, sidecar: Sidecar, network: NetworkOptions): Promise<BothSides> {
  const both: BothSides = { sandbox: [], node: [] };
  for (let round = 0; round < ROUNDS; round++) {
    both.node.push(...(await runInNode(program)));
    both.sandbox.push(...(await runInSandbox(program, sidecar, network)));
  }
  return both;
}

/** Runs `program` in a fresh runtime. Returns the samples in milliseconds. */
export async function runInSandbox(program: string, sidecar: Sidecar, network: NetworkOptions): Promise<number[]> {
  const runtime = await NodeRuntime.create({ sidecar, network, files: { '/workspace/program.cjs': program } });
  try {
    const { exitCode, stdout, stderr, error } = await runtime.execFile('/workspace/program.cjs', { timeout: TIMEOUT_MS });
    if (exitCode !== 0) throw new Error(`sandbox: ${error?.message ?? stderr.slice(0, 300)}`);
    return JSON.parse(stdout) as number[];
  } finally {
    await runtime.dispose();
  }
}

async function runInNode(program: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)(pinnedNode(), ['-e', program], { timeout: TIMEOUT_MS, env: environmentForNode() });
  return JSON.parse(stdout) as number[];
}
