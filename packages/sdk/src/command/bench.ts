// `coldframe bench`: measures on this machine how long a start takes in each mode, beside a process
// of Node and `/bin/true`. A round measures every row, so that a busy machine affects all rows.
// The time of a runtime is the time from `create()` to the end of an empty program. The disposal is
// not measured.

import { spawn } from 'node:child_process';
import { cpus, loadavg, release } from 'node:os';
import { invalidOption } from '../errors/make.js';
import { whole } from '../options/rule.js';
import { show } from '../options/show.js';
import { nameOf, textOf } from './parse.js';
import { loadSdk } from './program.js';
import { numberOf } from './runtime-options.js';
import { type Paint, paintFor } from './styles.js';
import type { Arguments } from './subcommand.js';

const DEFAULT_ROUNDS = 15;
const ROUNDS = whole(3, 10_000, 'rounds');
const BAR_CELLS = 40;
/** The load per processor above which the figures of a machine are not reliable. */
const BUSY = 0.7;

/** Runs once and returns the milliseconds of the measured part. */
type Measure = () => Promise<number>;

interface Row {
  name: string;
  /** Measurements in a round. Short operations have more, because they vary more. */
  perRound: number;
  measure: Measure;
}

/** The figures of a row in milliseconds. */
export interface Figures {
  name: string;
  samples: number;
  medianMs: number;
  p95Ms: number;
}

export async function execute(args: Arguments): Promise<number> {
  const text = textOf(args, 'rounds');
  const rounds = text === undefined ? DEFAULT_ROUNDS : numberOf(text);
  const fault = ROUNDS.fault(rounds);
  if (fault !== undefined) {
    throw invalidOption(nameOf(args.subcommand), { option: '--rounds', expected: fault.expected, received: show(rounds) });
  }
  const { rows, close } = await openRows();
  const samples = new Map<string, number[]>(rows.map(({ name }) => [name, []]));
  // A busy machine is noticed before the benchmark itself makes load.
  const load = (loadavg()[0] as number) / cpus().length;
  try {
    for (const { measure } of rows) await measure(); // reads files into the cache of the system
    for (let round = 0; round < Number(rounds); round++) {
      for (const { name, perRound, measure } of rows) {
        for (let i = 0; i < perRound; i++) samples.get(name)?.push(await measure());
      }
    }
  } finally {
    await close();
  }
  const figures = [...samples].map(([name, values]) => figuresOf(name, values));
  const machine = { node: process.version, system: `${process.platform} ${release()}`, processors: cpus().length, load };
  if (args.flags.has('json')) console.log(JSON.stringify({ machine, rounds, figures }, null, 2));
  else print(figures, machine);
  return 0;
}

async function openRows(): Promise<{ rows: Row[]; close: () => Promise<void> }> {
  const { NodeRuntime, Sidecar } = await loadSdk();
  const sidecar = await Sidecar.spawn();
  const home = await NodeRuntime.create({ sidecar });
  const runner = await home.createResidentRunner();
  const start = async (options: { sidecar?: typeof sidecar }): Promise<number> => {
    const begin = performance.now();
    const runtime = await NodeRuntime.create(options);
    await runtime.exec('');
    const ms = performance.now() - begin;
    await runtime.dispose();
    return ms;
  };
  const rows: Row[] = [
    { name: 'owned: create and exec', perRound: 2, measure: () => start({}) },
    { name: 'shared: create and exec', perRound: 10, measure: () => start({ sidecar }) },
    { name: 'resident: exec', perRound: 20, measure: () => timed(() => runner.exec('')) },
    { name: 'node -e 1', perRound: 1, measure: () => timed(() => exitOf(process.execPath, ['-e', '1'])) },
    { name: '/bin/true', perRound: 3, measure: () => timed(() => exitOf('/bin/true', [])) },
  ];
  return { rows, close: () => sidecar.dispose() };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

const exitOf = (path: string, args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(path, args, { stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', () => resolve());
  });

/** Returns the median and the 95th percentile (nearest rank) of the samples. */
export function figuresOf(name: string, samples: readonly number[]): Figures {
  const sorted = [...samples].sort((a, b) => a - b);
  const rank = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] as number;
  const middle = sorted.length / 2;
  const median = Number.isInteger(middle) ? ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2 : rank(0.5);
  return { name, samples: sorted.length, medianMs: median, p95Ms: rank(0.95) };
}

function print(figures: readonly Figures[], machine: { node: string; system: string; processors: number; load: number }): void {
  const paint = paintFor(process.stdout);
  const { node, system, processors, load } = machine;
  console.log(paint('dim', `Node ${node}, ${system}, ${processors} processors`));
  const width = Math.max(...figures.map(({ name }) => name.length));
  console.log(paint('bold', `${'milliseconds'.padEnd(width)}  ${'median'.padStart(8)}  ${'p95'.padStart(8)}  samples`));
  const longest = Math.max(...figures.map(({ medianMs }) => medianMs));
  for (const { name, medianMs, p95Ms, samples } of figures) {
    const cells = `${name.padEnd(width)}  ${short(medianMs)}  ${short(p95Ms)}  ${String(samples).padStart(7)}`;
    console.log(`${cells}  ${bar(medianMs / longest, paint)}`);
  }
  if (load > BUSY) {
    const warning = `The machine was busy (load ${load.toFixed(2)} for each processor), so the figures are not reliable.`;
    console.log(paint('yellow', warning));
  }
}

const short = (ms: number): string => ms.toFixed(ms < 1 ? 3 : ms < 100 ? 2 : 1).padStart(8);

/** The eighths of a character cell. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

function bar(share: number, paint: Paint): string {
  const eighths = Math.max(1, Math.round(share * BAR_CELLS * 8));
  return paint('cyan', '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]);
}
