// `bench:userland [--out FILE.json] [--only TEXT]`: what Node's library costs in the sandbox, as ratios to the pinned Node in one run. JSON to stdout
// or FILE, the table to stderr. Exit code 1 when a case failed or the two sides disagreed.

import { writeFileSync } from 'node:fs';
import { readFlags } from '../config/flags.js';
import { describeHardware } from '../machine/hardware.js';
import { percentage, textTable } from '../report/format.js';
import { cases, ENGINE_CALL, HOST_CALL } from '../userland/cases.js';
import { runUserland, type UserlandResult } from '../userland/run.js';
import { openNode, openSandbox } from '../userland/sides.js';
import { runCommand } from './command.js';
import { toStderr } from './progress.js';

const HELP = `bench:userland [--out FILE.json] [--only TEXT]

URL parsing, Buffer codecs, JSON, hashing, gzip, streams, events, files and loopback HTTP: the sandbox and the pinned Node, case by case in turns.`;

const SHAPE = { samples: 15, sampleMs: 10 };

const micros = (milliseconds: number | undefined): string =>
  milliseconds === undefined ? '' : (milliseconds * 1000).toPrecision(3).replace(/e\+?(\d+)$/, (_, power) => `e${power}`);

/** What a call to the host costs above one that stays in the engine, in microseconds. */
function hostCallUs(results: readonly UserlandResult[]): number | null {
  const p50 = (name: string) => results.find((result) => result.name === name)?.sandbox?.p50;
  const [host, engine] = [p50(HOST_CALL), p50(ENGINE_CALL)];
  return host === undefined || engine === undefined ? null : (host - engine) * 1000;
}

function show(results: readonly UserlandResult[], hostCall: number | null): void {
  const rows = results.map(({ name, sandbox, node, ratio }) => [
    name,
    micros(node?.p50),
    micros(sandbox?.p50),
    micros(sandbox?.mad),
    ratio === null ? 'failed' : ratio.toFixed(2),
  ]);
  toStderr(`\n${textTable(['µs per operation', 'Node p50', 'sandbox p50', 'MAD', 'sandbox / Node'], rows, [0])}`);
  if (hostCall !== null) toStderr(`\na call to the host costs ${hostCall.toFixed(2)} µs above the engine's own`);
  for (const { name, error } of results) if (error !== undefined) toStderr(`${name}: ${error}`);
}

await runCommand(HELP, async () => {
  const { values, help } = readFlags(process.argv.slice(2), ['out', 'only'], { min: 0, max: 0 });
  if (help) return 'help';
  const { only = '', out } = values;
  const chosen = cases.filter(({ name }) => name.includes(only));
  const sides = { sandbox: await openSandbox(), node: openNode() };
  let results: UserlandResult[];
  try {
    const starts = (name: string, index: number) => toStderr(`[${index + 1}/${chosen.length}] ${name}`);
    results = await runUserland(chosen, sides, SHAPE, { starts });
  } finally {
    await sides.sandbox.close();
  }
  const hostCall = hostCallUs(results);
  const right = results.filter(({ error }) => error === undefined).length;
  show(results, hostCall);
  toStderr(`right: ${percentage(right / results.length)}`);
  const report = {
    schema: 'coldframe-userland/1',
    hardware: describeHardware(),
    hostCallUs: hostCall,
    runs: { right, total: results.length },
    results,
  };
  const json = `${JSON.stringify(report, undefined, 1)}\n`;
  if (out === undefined) process.stdout.write(json);
  else writeFileSync(out, json);
  return right === results.length ? 0 : 1;
});
