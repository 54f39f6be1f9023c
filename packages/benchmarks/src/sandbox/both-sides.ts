// Runs a program in the sandbox and in the pinned Node, and compares the computed values. Each run
// has a fresh runtime or a fresh Node process.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NetworkOptions, NodeRuntime, type Sidecar } from 'coldframe';
import { pinnedNode } from '../machine/pinned-node.js';

/** Milliseconds of each sample, in the sandbox and in Node. */
export interface BothSides {
  sandbox: number[];
  node: number[];
}

/**
 * The output of a program: samples in milliseconds, and a value that must be equal in the sandbox
 * and in Node.
 */
export interface Output {
  samples: number[];
  check: string;
}

const TIMEOUT_MS = 60_000;
const NODE_OPTIONS = ['--expose-internals', '--no-warnings'];

/** The options of `runOnBothSides()`. */
export interface BothSidesOptions {
  /** The connections out of the runtime. @default none */
  network?: NetworkOptions;
  /** The number of runs on each side, in turns. @default 1 */
  rounds?: number;
}

/**
 * Runs `program` in the sandbox and in Node. @throws when one run fails, or when two runs computed
 * different values.
 */
export async function runOnBothSides(program: string, sidecar: Sidecar, options: BothSidesOptions = {}): Promise<BothSides> {
  const { network, rounds = 1 } = options;
  const both: BothSides = { sandbox: [], node: [] };
  for (let round = 0; round < rounds; round++) {
    const node = await runInNode(program);
    const sandbox = await runInSandbox(program, sidecar, network);
    if (sandbox.check !== node.check) throw new Error(`the sandbox computed ${sandbox.check}, Node ${node.check}`);
    both.node.push(...node.samples);
    both.sandbox.push(...sandbox.samples);
  }
  return both;
}

/** Runs `program` in the sandbox alone. @throws when the run fails. */
export async function runInSandbox(program: string, sidecar: Sidecar, network?: NetworkOptions): Promise<Output> {
  const files = { '/workspace/program.cjs': program };
  const runtime = await NodeRuntime.create({ sidecar, network, files });
  try {
    const result = await runtime.execFile('/workspace/program.cjs', { execArgv: NODE_OPTIONS, timeout: TIMEOUT_MS });
    if (result.exitCode !== 0) throw new Error(`sandbox: ${result.error?.message ?? result.stderr.slice(0, 300)}`);
    return JSON.parse(result.stdout) as Output;
  } finally {
    await runtime.dispose();
  }
}

async function runInNode(program: string): Promise<Output> {
  const folder = mkdtempSync(join(tmpdir(), 'coldframe-bench-'));
  try {
    const file = join(folder, 'program.cjs');
    writeFileSync(file, program);
    const stdout = await new Promise<string>((resolve, reject) => {
      execFile(pinnedNode(), [...NODE_OPTIONS, file], { timeout: TIMEOUT_MS }, (error, out, stderr) => {
        if (error) reject(new Error(`Node: ${stderr.slice(0, 300)}`));
        else resolve(out);
      });
    });
    return JSON.parse(stdout) as Output;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
