// What a run has to compare: its figures by names that another run of the same benchmark gives them too. All are times in milliseconds, but those whose name
// says KiB: what each of many live runtimes takes is what density is about.

import { SCHEMA as DENSITY, type DensityReport } from '../density/report.js';
import type { LiveResult } from '../density/result.js';
import type { Floors } from '../floors/around.js';
import { SCHEMA as LIFECYCLE, type LifecycleReport } from '../lifecycle/report.js';
import { SCHEMA as POOL, type PoolReport } from '../pool/report.js';
import { SCHEMA as COLDSTART, type ColdstartReport } from '../report/report.js';
import { type Statistics, summarize } from '../stats/statistics.js';

export type ComparableReport = ColdstartReport | LifecycleReport | DensityReport | PoolReport;

export interface Figure {
  name: string;
  statistics: Statistics;
  isFloor: boolean;
}

/** `null` where every run of a row was wrong: it has no figure. */
type Named = readonly [name: string, statistics: Statistics | null | undefined];

export function figuresOf(report: ComparableReport): Figure[] {
  return [
    ...figures(
      true,
      Object.entries(report.floors as Floors).map(([name, { statistics }]) => [`floor ${name}`, statistics]),
    ),
    ...figures(false, own(report)),
  ];
}

const figures = (isFloor: boolean, named: readonly Named[]): Figure[] =>
  named.flatMap(([name, statistics]) => (statistics ? [{ name, statistics, isFloor }] : []));

function own(report: ComparableReport): Named[] {
  switch (report.schema) {
    case COLDSTART:
      return report.results.flatMap((row) => {
        const name = `${row.scenario} ${row.mode} ${row.batchSize}`;
        return [[`${name} cold`, row.coldStart] as const, [`${name} warm`, row.warmStart] as const];
      });
    case LIFECYCLE:
      return report.rows.flatMap((row) =>
        Object.entries(row.measures).flatMap(([measure, { wall, each }]) => {
          const name = `${row.operation} ${row.variant} ${row.n}, ${measure}`;
          return row.n === 1 ? [[name, wall] as const] : [[`${name}, wall`, wall] as const, [`${name}, each`, each] as const];
        }),
      );
    case DENSITY:
      return [
        ...report.rows.flatMap((row) => crowd(`${row.kind} ${row.count}`, row)),
        ...report.holds.flatMap((row) => crowd(`${row.kind} ${row.count} at one moment`, row)),
        ...report.bursts.flatMap(({ kind, rows }) =>
          rows.map(({ n, answerMs }) => [`${kind}, burst of ${n}, answer`, answerMs] as const),
        ),
      ];
    case POOL:
      return [
        ...report.amortised.flatMap((row) => {
          const name = `${row.way}${row.uses === undefined ? '' : `, K = ${row.uses}`}, ${row.width} at a time`;
          return [[`${name}, amortised`, summarize([row.amortisedMs])] as const, [`${name}, each`, row.eachMs] as const];
        }),
        ...report.crowds.flatMap((row) => [
          [`${row.way}, ${row.at} at one moment, each`, row.eachMs] as const,
          [`${row.way}, ${row.at} at one moment, wall`, row.wallMs] as const,
        ]),
      ];
  }
}

const crowd = (name: string, { createMs, probeMs, privateKib }: LiveResult): Named[] => [
  [`${name}, create`, createMs],
  [`${name}, probe`, probeMs],
  [`${name}, private KiB each`, summarize([privateKib])],
];
