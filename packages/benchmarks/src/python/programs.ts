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
/** Least processor time of a sample. The sandbox's clock of processor time ticks every 10 ms. */
const SAMPLE_MS = 200;

/** One result in the JSON: milliseconds of processor time of one run. */
export interface ProgramResult {
  name: string;
  what: string;
  box: Statistics | null;
  native: Statistics | null;
  /** The ratio of the least times. */
  ratio: number | null;
  error?: string;
}

/** The output of a program. */
interface ProgramOutput {
  check: string;
  samples: number[];
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

/** Returns the program with the measurement around its function `run`. */
export const measured = ({ source }: PythonProgram, samples: number): string => `${source}

import json as _json
import time as _time

def _times(count):
    begun = _time.process_time()
    for _ in range(count):
        run()
    return (_time.process_time() - begun) * 1000

_check = repr(run())
_count = 1
while (_took := _times(_count)) < ${SAMPLE_MS / 2}:
    _count *= 2
_count = max(1, round(_count * ${SAMPLE_MS} / _took))
_samples = [_times(_count) / _count for _ in range(${samples})]
print(_json.dumps({"check": _check, "samples": _samples}))
`;

/** Runs a program on both sides in turns. */
export async function measureProgram(
  program: PythonProgram,
  { sidecar, native, samples }: { sidecar: Sidecar; native: NativePython; samples: number },
): Promise<ProgramResult> {
  const { name, source } = program;
  const what = /^"""(.*?)\.?"""/.exec(source)?.[1] ?? '';
  try {
    const code = measured(program, samples);
    const outside = JSON.parse(await runNative(native, code)) as ProgramOutput;
    const inside = JSON.parse(await runInBox(sidecar, code)) as ProgramOutput;
    if (inside.check !== outside.check) {
      throw new Error(`the sandbox computed ${inside.check.slice(0, 60)}, native Python ${outside.check.slice(0, 60)}`);
    }
    const [box, least] = [summarize(inside.samples), summarize(outside.samples)];
    return { name, what, box, native: least, ratio: ratioOf(box?.min, least?.min) ?? null };
  } catch (error) {
    return { name, what, box: null, native: null, ratio: null, error: reason(error) };
  }
}

async function runInBox(sidecar: Sidecar, code: string): Promise<string> {
  const runtime = await NodeRuntime.create({ sidecar, limits: { memoryBytes: MEMORY_BYTES, cpuMs: TIMEOUT_MS } });
  try {
    const { stdout, stderr, exitCode, error } = await runtime.exec(code, { language: 'python', timeout: TIMEOUT_MS });
    if (exitCode === 0) return stdout;
    throw new Error(`sandbox: ${error?.message ?? (stderr.trim().split('\n').at(-1) || `exit code ${exitCode}`)}`);
  } finally {
    await runtime.dispose();
  }
}

/** Returns the geometric mean of the ratios. */
export function meanRatio(results: readonly ProgramResult[]): number | undefined {
  const ratios = results.flatMap(({ ratio }) => (ratio === null ? [] : [ratio]));
  if (ratios.length === 0) return undefined;
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
}
