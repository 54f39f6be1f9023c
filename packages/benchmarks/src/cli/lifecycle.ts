// `bench:lifecycle [--out FILE.json] [--report FILE.html] [--only NAMES] [--soak N] …`: what it costs to save, copy, roll back and put to sleep. JSON to stdout or
// FILE, everything for people to stderr. The exit code is 1 when anything failed or a row is missing; missed targets are shown, not punished.

import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFlags } from '../config/flags.js';
import { list, wholeNumber } from '../config/parse.js';
import { UsageError } from '../config/usage-error.js';
import { openSidecar } from '../lifecycle/adapter.js';
import { measureLifecycle } from '../lifecycle/measure.js';
import { operations } from '../lifecycle/operations/index.js';
import { PACKAGES } from '../lifecycle/packages.js';
import { renderLifecycle } from '../lifecycle/page.js';
import { OPERATIONS, type OperationName, planRows } from '../lifecycle/plan.js';
import { type LifecycleReport, SCHEMA } from '../lifecycle/report.js';
import { lifecycleTables } from '../lifecycle/tables.js';
import { judgeLifecycle } from '../lifecycle/targets.js';
import { lifecycleWarnings } from '../lifecycle/warnings.js';
import { observe } from '../machine/observe.js';
import { failed } from '../report/report.js';
import { machineWarnings } from '../report/warnings.js';
import { runCommand } from './command.js';
import { showTables, writeReport } from './output.js';
import { toStderr } from './progress.js';

const HELP = `bench:lifecycle [--out FILE.json] [--report FILE.html] [--only NAMES] [--soak N] [--budget SECONDS] [--settle MS] [--directory DIR] [--quick]

Snapshots, boxes from snapshots, rollbacks, clones, sleep, spawns from a warm parent, live branches, and what outlives kill -9.
--only       operations with commas: ${OPERATIONS.join(', ')}
--soak       cycles of create, answer, dispose; 0 leaves them out (default 1000)
--budget     seconds for the rows; they get fewer rounds when it is short (default 270)
--settle     milliseconds between two rounds (default 20; the field's scripts have 500 to 2,000)
--directory  where snapshots are stored (default: a folder in the system's one for temporary files)
--quick      few rounds of small sizes: shows that everything works, measures nothing`;

const FLAGS = ['out', 'report', 'only', 'soak', 'budget', 'settle', 'directory'];
const FLOOR_SAMPLES = 40;
const QUICK_FLOOR_SAMPLES = 4;

function operationName(text: string): OperationName {
  const known = OPERATIONS.find((name) => name === text);
  if (known) return known;
  throw new UsageError(`--only: expected names out of ${OPERATIONS.join(', ')}, got ${JSON.stringify(text)}`);
}

await runCommand(HELP, async () => {
  const { values, switches, help } = readFlags(process.argv.slice(2), FLAGS, { min: 0, max: 0 }, ['quick']);
  if (help) return 'help';
  const whole = (name: string, fallback: number, max: number) => {
    const text = values[name];
    return text === undefined ? fallback : wholeNumber(`--${name}`, text, 0, max);
  };
  const options = {
    only: values.only === undefined ? [...OPERATIONS] : list('--only', values.only, operationName),
    quick: switches.has('quick'),
    soak: whole('soak', switches.has('quick') ? 20 : 1_000, 10_000_000),
    budgetSeconds: whole('budget', 270, 86_400),
    settleMs: whole('settle', 20, 60_000),
  };
  const scratch = mkdtempSync(join(values.directory ?? tmpdir(), 'coldframe-lifecycle-'));
  try {
    const { head, result } = await observe((cores) =>
      measureLifecycle({
        open: openSidecar,
        operations,
        plan: planRows(options.only, options.quick),
        soak: options.soak,
        scratch,
        budgetMs: options.budgetSeconds * 1000,
        settleMs: options.settleMs,
        floorSamples: options.quick ? QUICK_FLOOR_SAMPLES : FLOOR_SAMPLES,
        cores,
        say: toStderr,
      }),
    );
    const report: LifecycleReport = {
      schema: SCHEMA,
      ...head,
      options,
      store: { fileSystem: fileSystemOf(scratch) },
      packages: PACKAGES,
      warnings: [...machineWarnings(head.hardware, head.machine), ...lifecycleWarnings(result)],
      targets: judgeLifecycle(result),
      ...result,
    };
    showTables(lifecycleTables(report), report.warnings, report.durationMs);
    writeReport(report, values.out, { path: values.report, render: () => renderLifecycle(report) });
    const { rows, skipped, soak } = result;
    const whole100 =
      rows.every(({ runs }) => runs.right === runs.total) && (!soak || (!failed(soak) && soak.right === soak.cycles));
    return skipped.length === 0 && whole100 ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

/** By the number that the system gives its kinds of file systems. */
function fileSystemOf(path: string): string {
  const kinds: Record<number, string> = {
    61267: 'ext4',
    16914836: 'tmpfs',
    1481003842: 'xfs',
    2435016766: 'btrfs',
    2035054128: 'overlay',
  };
  const { type } = statfsSync(path);
  return kinds[type] ?? `0x${type.toString(16)}`;
}
