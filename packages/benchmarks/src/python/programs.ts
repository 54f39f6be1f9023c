// Processor time of whole programs, in the sandbox and in the native Python. The programs are in
// the folder `python` of the package. A time counts only if both sides computed equal values.

import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NodeRuntime, type Sidecar } from 'coldframe';
import { ratioOf, type Statistics, summarize } from '../statistics/statistics.js';
import { reason } from '../suite/failures.js';
import { type NativePython, runNative } from './native.js';

const FOLDER = fileURLToPath(new URL('../../python/', import.meta.url));
const MEMORY_BYTES = 512 << 20;
const TIMEOUT_MS = 120_000;
/** Processor time of a sample of the native Python. */
const SAMPLE_MS = 500;

/** One result in the JSON: milliseconds of processor time of one run. */
export interface ProgramResult {
  name: string;
  what: string;
  box: Statistics | null;
  native: Statistics | null;
  /** The ratio of the means. */
  ratio: number | null;
  error?: string;
}

/** The output of a program: its value, and the milliseconds of all runs after the first run. */
interface ProgramOutput {
  check: string;
  ms: number;
}

/** A program of the folder `python`. */
export interface PythonProgram {
  name: string;
  source: string;
}

export const pythonPrograms = (): PythonProgram[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.py'))
    .sort()
    .map((name) => ({ name: basename(name, '.py'), source: readFileSync(`${FOLDER}${name}`, 'utf8') }));

/** Returns the program with a first run, and `count` further runs. */
export const repeated = ({ source }: PythonProgram, count: number): string => `${source}

import json as _json
import time as _time

_check = repr(run())
_begun = _time.process_time()
for _ in range(${count}):
    run()
print(_json.dumps({"check": _check, "ms": (_time.process_time() - _begun) * 1000}))
`;

/** Runs a program on both sides in turns. */
export async function measureProgram(
  program: PythonProgram,
  { sidecar, native, samples }: { sidecar: Sidecar; native: NativePython; samples: number },
): Promise<ProgramResult> {
  const { name, source } = program;
  const what = /^"""(.*?)\.?"""/.exec(source)?.[1] ?? '';
  try {
    const outside = async (count: number) => JSON.parse(await runNative(native, repeated(program, count))) as ProgramOutput;
    const first = await outside(3);
    const count = Math.max(3, Math.ceil((3 * SAMPLE_MS) / Math.max(first.ms, 1)));
    const times = { box: [] as number[], native: [] as number[] };
    for (let sample = 0; sample < samples; sample++) {
      times.native.push((await outside(count)).ms / count);
      // The difference of two programs is the time without the start and the first run.
      const without = await runInBox(sidecar, repeated(program, 0));
      const within = await runInBox(sidecar, repeated(program, count));
      if (within.check !== first.check) {
        throw new Error(`the sandbox computed ${within.check.slice(0, 60)}, native Python ${first.check.slice(0, 60)}`);
      }
      times.box.push((within.ms - without.ms) / count);
    }
    const [box, other] = [summarize(times.box), summarize(times.native)];
    return { name, what, box, native: other, ratio: ratioOf(box?.mean, other?.mean) ?? null };
  } catch (error) {
    return { name, what, box: null, native: null, ratio: null, error: reason(error) };
  }
}

/** Runs a program in a new runtime. Returns its value, and the processor time of the sidecar. */
async function runInBox(sidecar: Sidecar, code: string): Promise<ProgramOutput> {
  const runtime = await NodeRuntime.create({ sidecar, limits: { memoryBytes: MEMORY_BYTES, cpuMs: TIMEOUT_MS } });
  try {
    const from = processorMs(sidecar.pid);
    const { stdout, stderr, exitCode, error } = await runtime.exec(code, { language: 'python', timeout: TIMEOUT_MS });
    const ms = processorMs(sidecar.pid) - from;
    if (exitCode === 0) return { check: (JSON.parse(stdout) as ProgramOutput).check, ms };
    throw new Error(`sandbox: ${error?.message ?? (stderr.trim().split('\n').at(-1) || `exit code ${exitCode}`)}`);
  } finally {
    await runtime.dispose();
  }
}

/** Returns the processor time of all threads of a process. The system counts in steps of 10 ms. */
function processorMs(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
  return (user + system) * 10;
}

/** Returns the geometric mean of the ratios. */
export function meanRatio(results: readonly ProgramResult[]): number | undefined {
  const ratios = results.flatMap(({ ratio }) => (ratio === null ? [] : [ratio]));
  if (ratios.length === 0) return undefined;
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
}
