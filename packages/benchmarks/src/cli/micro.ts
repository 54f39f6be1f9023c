// `bench:micro [--out FILE.json]`: the micro-benchmarks. JSON to stdout or FILE, the table to stderr. Exit code 1 when one failed.

import { writeFileSync } from 'node:fs';
import { readFlags } from '../config/flags.js';
import { describeHardware } from '../machine/hardware.js';
import { codecGroup } from '../micro/codec.js';
import { evaluationGroup, sidecarKinds } from '../micro/evaluation.js';
import { type MicroResult, runGroup } from '../micro/run.js';
import { systemCallGroup, WITH_CALL, WITHOUT_CALL } from '../micro/system-call.js';
import type { MicroGroup } from '../micro/task.js';
import { ms, textTable } from '../report/format.js';
import { timerResolution } from '../stats/timer.js';
import { runCommand } from './command.js';
import { toStderr } from './progress.js';

const HELP = `bench:micro [--out FILE.json]

Warm evaluation, fresh program, create + drop and ping on each kind of sidecar, a guest's system call, the frame codec.`;

const SHAPE = { timeMs: 1000, warmupMs: 250 };

const groups: readonly [string, () => Promise<MicroGroup>][] = [
  ...Object.entries(sidecarKinds).map(
    ([kind, open]) => [kind, () => evaluationGroup(kind, open)] as [string, () => Promise<MicroGroup>],
  ),
  ['system call', systemCallGroup],
  ['frame codec', codecGroup],
];

async function runGroups(): Promise<MicroResult[]> {
  const results: MicroResult[] = [];
  for (const [index, [name, open]] of groups.entries()) {
    toStderr(`[${index + 1}/${groups.length}] ${name}`);
    try {
      results.push(...(await runGroup(open, SHAPE)));
    } catch (error) {
      results.push({ name, what: 'opening it', statistics: null, error: String(error) });
    }
  }
  return results;
}

/** The cost of the call alone, in milliseconds. */
function systemCallMs(results: readonly MicroResult[]): number | null {
  const p50 = (name: string) => results.find((result) => result.name === name)?.statistics?.p50;
  const [withCall, without] = [p50(WITH_CALL), p50(WITHOUT_CALL)];
  return withCall === undefined || without === undefined ? null : withCall - without;
}

const micros = (milliseconds: number | undefined): string => ms(milliseconds === undefined ? undefined : milliseconds * 1000);

function show(results: readonly MicroResult[], systemCall: number | null): void {
  const rows = results.map(({ name, what, statistics: each, error }) => [
    name,
    error ? 'failed' : what,
    ...[each?.p50, each?.p95, each?.p99, each?.mad].map(micros),
    `${each?.count ?? 0}`,
  ]);
  if (systemCall !== null) rows.push(['guest clock call', 'difference of the two loops', micros(systemCall), '', '', '', '']);
  toStderr(`\n${textTable(['µs per operation', 'what', 'p50', 'p95', 'p99', 'MAD', 'n'], rows, [0, 1])}`);
  for (const { name, error } of results) if (error) toStderr(`${name} failed: ${error}`);
}

await runCommand(HELP, async () => {
  const { values, help } = readFlags(process.argv.slice(2), ['out'], { min: 0, max: 0 });
  if (help) return 'help';
  const results = await runGroups();
  const systemCall = systemCallMs(results);
  show(results, systemCall);
  const timer = { resolutionMs: timerResolution() };
  const report = { schema: 'coldframe-micro/1', hardware: describeHardware(), timer, systemCallMs: systemCall, results };
  const json = `${JSON.stringify(report, undefined, 1)}\n`;
  if (values.out === undefined) process.stdout.write(json);
  else writeFileSync(values.out, json);
  return results.every(({ error }) => error === undefined) ? 0 : 1;
});
