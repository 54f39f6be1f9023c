// The HTML page of a pool run, made from the JSON alone.

import { duration } from '../report/charts/axes.js';
import { drawLines, type Point } from '../report/charts/lines.js';
import { paletteColor } from '../report/charts/svg.js';
import { legend, renderDocument, renderTable, section } from '../report/document.js';
import { CROWD_WAYS } from './crowds.js';
import { publishedPools } from './published.js';
import type { PoolReport } from './report.js';
import { poolTables } from './tables.js';

const TASKS = ['pool', 'pool, shared uses'] as const;

export function renderPools(report: PoolReport): string {
  const tables = poolTables(report).map(renderTable);
  const named = (names: readonly string[], chart: string) =>
    chart === '' ? '' : legend(names.map((name, index) => ({ name, color: paletteColor(index) }))) + chart;
  return renderDocument('Coldframe: pools', report, [
    ...tables.slice(-1),
    section(
      'What a task costs, by the uses of a slot',
      'One at a time, amortised. Grey: the same task without a pool.',
      named(TASKS, taskChart(report)),
    ),
    section(
      'Calls at one moment',
      'From the call to the first answer (p50, whisker to p95). Grey: a pool of micro-VMs that lie ready, as published.',
      named(CROWD_WAYS, crowdChart(report)),
    ),
    ...tables.slice(0, -1),
  ]);
}

function taskChart({ amortised, plan }: PoolReport): string {
  const alone = amortised.filter(({ width }) => width === 1);
  return drawLines({
    caption: 'Amortised time of a task by the uses of a slot',
    places: plan.uses.map(String),
    series: TASKS.map((way, index) => ({
      color: paletteColor(index),
      points: alone
        .filter((row) => row.way === way)
        .map(
          (row): Point => ({
            at: `${row.uses}`,
            value: row.amortisedMs,
            text: `${way}, K = ${row.uses}: ${duration(row.amortisedMs)}`,
          }),
        ),
    })),
    levels: alone
      .filter(({ uses }) => uses === undefined)
      .map(({ way, amortisedMs }) => ({
        name: `${way} ${duration(amortisedMs)}`,
        value: amortisedMs,
        text: `${way}: ${duration(amortisedMs)}`,
      })),
    format: duration,
  });
}

function crowdChart({ crowds, plan }: PoolReport): string {
  const prewarmed = publishedPools.find(({ what }) => what === 'prewarmed pool, 1 at once');
  return drawLines({
    caption: 'Time to the first answer by the number of calls at one moment',
    places: plan.crowds.map(String),
    series: CROWD_WAYS.map((way, index) => ({
      color: paletteColor(index),
      points: crowds.flatMap(({ way: mine, at, eachMs }): Point[] =>
        mine === way && eachMs
          ? [{ at: `${at}`, value: eachMs.p50, high: eachMs.p95, text: `${way}, ${at}: ${duration(eachMs.p50)}` }]
          : [],
      ),
    })),
    levels: prewarmed
      ? [
          {
            name: `${prewarmed.system} ${duration(prewarmed.ms)}`,
            value: prewarmed.ms,
            text: `${prewarmed.what}: ${duration(prewarmed.ms)}`,
          },
        ]
      : [],
    format: duration,
  });
}
