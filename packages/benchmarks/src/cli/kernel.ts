// `bench:kernel [--out FILE.json] [--only TEXT]`: what files, sockets and processes of the sandbox cost, beside the pinned Node on the same machine,
// and whether a long life leaves something behind. JSON to stdout or FILE, the table to stderr. Exit code 1 when a case failed.

import { writeFileSync } from 'node:fs';
import { Sidecar } from 'coldframe';
import { readFlags } from '../config/flags.js';
import { cases } from '../kernel/cases.js';
import { type LeakResult, measureLeaks } from '../kernel/leaks.js';
import { measureOutside, OUTSIDE } from '../kernel/outside.js';
import { type KernelResult, runCase } from '../kernel/run.js';
import { describeHardware } from '../machine/hardware.js';
import { ms, textTable } from '../report/format.js';
import { runCommand } from './command.js';
import { toStderr } from './progress.js';

const HELP = `bench:kernel [--out FILE.json] [--only TEXT]

System calls, loopback sockets, children, shells, bindings and requests: the sandbox and the pinned Node, case by case in turns; then a thousand processes in one runtime.`;

function show(results: readonly KernelResult[], leaks: LeakResult | undefined): void {
  const rows = results.map(({ name, unit, bound, sandbox, node, verdict, error }) => [
    name,
    unit,
    ms(node?.p50),
    ms(sandbox?.p50),
    ms(sandbox?.p95),
    bound === null ? '' : `≤ ${bound}`,
    error === undefined ? (verdict ?? '') : 'failed',
  ]);
  toStderr(`\n${textTable(['', 'unit', 'Node p50', 'sandbox p50', 'p95', 'target', ''], rows, [0, 1, 6])}`);
  for (const { name, error } of results) if (error !== undefined) toStderr(`${name}: ${error}`);
  if (!leaks) return;
  const { name, right, processes, leftProcesses, leftDescriptors, grownKib, boundKib, verdict } = leaks;
  toStderr(
    `\n${name}: ${right} of ${processes} right; left behind: ${leftProcesses} processes, ${leftDescriptors} descriptors, ${grownKib} KiB (≤ ${boundKib}): ${verdict}`,
  );
}

await runCommand(HELP, async () => {
  const { values, help } = readFlags(process.argv.slice(2), ['out', 'only'], { min: 0, max: 0 });
  if (help) return 'help';
  const { only = '', out } = values;
  const chosen = cases.filter(({ name }) => name.includes(only));
  const sidecar = await Sidecar.spawn();
  const results: KernelResult[] = [];
  let leaks: LeakResult | undefined;
  try {
    for (const [index, each] of chosen.entries()) {
      toStderr(`[${index + 1}/${chosen.length}] ${each.name}`);
      results.push(await runCase(each, sidecar));
    }
    if (OUTSIDE.some((name) => name.includes(only))) {
      toStderr('bindings, and requests to a guest');
      results.push(...(await measureOutside(sidecar)));
    }
    if ('processes'.includes(only)) {
      toStderr('a thousand processes');
      leaks = await measureLeaks(sidecar);
    }
  } finally {
    await sidecar.dispose();
  }
  show(results, leaks);
  const report = { schema: 'coldframe-kernel/1', hardware: describeHardware(), results, leaks: leaks ?? null };
  const json = `${JSON.stringify(report, undefined, 1)}\n`;
  if (out === undefined) process.stdout.write(json);
  else writeFileSync(out, json);
  const right = results.every(({ error }) => error === undefined) && (!leaks || leaks.right === leaks.processes);
  return right ? 0 : 1;
});
