// Runs a program in the sandbox and in the pinned Node, and compares the computed values. Each run
// has a fresh runtime or a fresh Node process.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeRuntime, type Sidecar } from 'coldframe';
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
interface Output {
  samples: number[];
  check: string;
}

const TIMEOUT_MS = 60_000;
const NODE_OPTIONS = ['--expose-internals', '--no-warnings'];

/**
 * Runs `program` in the sandbox and in Node. @throws when one run fails, or when the two runs
 * computed different values.
 */
export async function runOnBothSides(program: string, sidecar: Sidecar): Promise<BothSides> {
  const node = await runInNode(program);
  const sandbox = await runInSandbox(program, sidecar);
  if (sandbox.check !== node.check) throw new Error(`the sandbox computed ${sandbox.check}, Node ${node.check}`);
  return { sandbox: sandbox.samples, node: node.samples };
}

async function runInSandbox(program: string, sidecar: Sidecar): Promise<Output> {
  const runtime = await NodeRuntime.create({ sidecar, files: { '/workspace/program.cjs': program } });
  try {
    const result = await runtime.execFile('/workspace/program.cjs', { execArgv: NODE_OPTIONS, timeout: TIMEOUT_MS });
    if (result.exitCode !== 0) throw new Error(`sandbox: ${result.error?.message ?? result.stderr.slice(0, 300)}`);
    return JSON.parse(result.stdout) as Output;
  } finally {
    await runtime.dispose();
  }
}

async function runInNode(program: string): Promise<Output> {
  const folder = mkdtempSync(join(tmpdir(), 'coldframe-kernel-'));
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
