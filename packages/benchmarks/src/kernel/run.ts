// Runs every case on both sides, in turns, and judges it by its bound. Next: leaks.ts, what a long life leaves behind.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeRuntime, type Sidecar } from 'coldframe';
import { pinnedNode } from '../machine/pinned-node.js';
import { type Statistics, summarize } from '../stats/statistics.js';
import type { KernelCase } from './cases.js';

export type Verdict = 'met' | 'missed' | 'unmeasured';

export interface KernelResult {
  name: string;
  unit: 'µs' | 'ms';
  bound: number | null;
  /** In `unit`, of the sandbox and of the pinned Node on this machine. */
  sandbox: Statistics | null;
  node: Statistics | null;
  verdict: Verdict | null;
  /** Why a side has no figures. */
  error?: string;
}

const TIMEOUT_MS = 60_000;
const OPTIONS = ['--expose-internals', '--no-warnings'];

interface Output {
  samples: number[];
  check: string;
}

export async function runCase(each: KernelCase, sidecar: Sidecar): Promise<KernelResult> {
  const base = { name: each.name, unit: each.unit, bound: each.bound ?? null };
  try {
    const node = await inNode(each.program);
    const sandbox = await inSandbox(each.program, sidecar);
    if (sandbox.check !== node.check) throw new Error(`the sandbox computed ${sandbox.check}, Node ${node.check}`);
    const figures = { sandbox: inUnit(sandbox, each), node: inUnit(node, each) };
    return { ...base, ...figures, verdict: judge(figures.sandbox?.p50, each.bound) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ...base, sandbox: null, node: null, verdict: each.bound === undefined ? null : 'unmeasured', error: why };
  }
}

export function judge(measured: number | undefined, bound: number | undefined): Verdict | null {
  if (bound === undefined) return null;
  if (measured === undefined || Number.isNaN(measured)) return 'unmeasured';
  return measured <= bound ? 'met' : 'missed';
}

/** Statistics in microseconds, of samples in milliseconds. */
export const inMicros = (samples: readonly number[]): Statistics | null => summarize(samples.map((sample) => sample * 1000));

const inUnit = ({ samples }: Output, { unit }: KernelCase): Statistics | null =>
  unit === 'ms' ? summarize(samples) : inMicros(samples);

async function inSandbox(program: string, sidecar: Sidecar): Promise<Output> {
  const runtime = await NodeRuntime.create({ sidecar, files: { '/workspace/case.cjs': program } });
  try {
    const result = await runtime.execFile('/workspace/case.cjs', { execArgv: OPTIONS, timeout: TIMEOUT_MS });
    if (result.exitCode !== 0) throw new Error(`sandbox: ${result.error?.message ?? result.stderr.slice(0, 300)}`);
    return JSON.parse(result.stdout) as Output;
  } finally {
    await runtime.dispose();
  }
}

async function inNode(program: string): Promise<Output> {
  const folder = mkdtempSync(join(tmpdir(), 'coldframe-kernel-'));
  try {
    const file = join(folder, 'case.cjs');
    writeFileSync(file, program);
    const stdout = await new Promise<string>((resolve, reject) => {
      execFile(pinnedNode(), [...OPTIONS, file], { timeout: TIMEOUT_MS }, (error, out, stderr) => {
        if (error) reject(new Error(`Node: ${stderr.slice(0, 300)}`));
        else resolve(out);
      });
    });
    return JSON.parse(stdout) as Output;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
