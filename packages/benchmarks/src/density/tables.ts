// The tables of the density benchmark: costs, creations, bursts, and published figures.

import { publishedMemory } from '../published/memory.js';
import { figure, type Table, table, time, times, words } from '../suite/table.js';
import { ms, percentage, seconds } from '../suite/text.js';
import type { BurstResult } from './bursts.js';
import { KIND_NAMES, KINDS } from './kinds.js';
import type { LiveResult } from './live.js';

const tenths = (head: string, value: (row: LiveResult) => number) => figure(head, (row: LiveResult) => value(row).toFixed(1));

export const costTable = (rows: readonly LiveResult[]): Table =>
  table('Cost of each live runtime to its sidecar', rows, [
    words('kind', ({ kind }) => KINDS[kind].what),
    figure('count', ({ count }) => count),
    figure('live', ({ live }) => live),
    tenths('private KiB', (row) => row.privateKib),
    tenths('page tables', (row) => row.pageTablesKib),
    tenths('mappings', (row) => row.mappings),
    tenths('descriptors', (row) => row.descriptors),
    tenths('Pss KiB', (row) => row.pssKib),
    tenths('KiB after probe', (row) => row.privateKibAfterProbe),
    figure('success', ({ successRate }) => percentage(successRate)),
  ]);

export const creationTable = (rows: readonly LiveResult[]): Table =>
  table('Creation and probe (ms, to the first answer)', rows, [
    words('kind', ({ kind }) => KINDS[kind].what),
    figure('count', ({ count }) => count),
    figure('at once', ({ width, count }) => Math.min(width, count)),
    ...times(['p50', 'p95', 'max'], ({ createMs }: LiveResult) => createMs),
    figure('by quarter', ({ quarters }) => quarters.map(ms).join(' ')),
    figure('wall', ({ createWallMs }) => secondsWithTenths(createWallMs)),
    ...times(['probe p50', 'p95', 'max'], ({ probeMs }: LiveResult) => probeMs),
    figure('probe wall', ({ probeWallMs }) => secondsWithTenths(probeWallMs)),
    figure('success', ({ outcomes }) => outcomes.success),
    figure('partial', ({ outcomes }) => outcomes.partial),
    figure('not ready', ({ outcomes }) => outcomes.readinessFailed),
    figure('refused', ({ outcomes }) => outcomes.refused),
  ]);

/** Formats milliseconds as seconds, with tenths of a second below ten seconds. */
const secondsWithTenths = (milliseconds: number): string =>
  milliseconds < 9_950 ? `${(milliseconds / 1000).toFixed(1)} s` : seconds(milliseconds);

export function burstTable(bursts: readonly BurstResult[]): Table {
  const lines = bursts.flatMap(({ kind, rows, knee }) => rows.map((row) => ({ kind, knee, ...row })));
  type Line = (typeof lines)[number];
  return table('Bursts: N at one moment, each to its first answer (ms)', lines, [
    words('kind', ({ kind }) => KINDS[kind].what),
    figure('N', ({ n }) => n),
    figure('rounds', ({ rounds }) => rounds),
    ...times(['p50', 'p95', 'max'], ({ answerMs }: Line) => answerMs),
    time('wall p50', ({ wallMs }) => wallMs?.p50),
    figure('per second', ({ perSecond }) => Math.round(perSecond)),
    figure('right', ({ successRate }) => percentage(successRate)),
    words('', ({ n, knee }) => (n === knee ? 'knee' : '')),
  ]);
}

const ORDINARY_COUNT = 1_000;

/**
 * Returns a table of published figures. Beside each figure is the largest count of each kind that
 * does not exceed the published count.
 */
export const publishedTable = (rows: readonly LiveResult[]): Table =>
  table('Published by others, beside ours (KiB each): other machines, other classes of isolation', publishedMemory, [
    words('system', ({ system }) => system),
    words('isolation', ({ isolation }) => isolation),
    figure('live', ({ live }) => live),
    figure('theirs', ({ kib }) => Math.round(kib)),
    ...KIND_NAMES.map((kind, index) =>
      figure(
        `${index === 0 ? 'ours: ' : ''}${KINDS[kind].short}`,
        ({ live = ORDINARY_COUNT }: (typeof publishedMemory)[number]) =>
          rows
            .filter((row) => row.kind === kind && row.count <= live)
            .at(-1)
            ?.privateKib.toFixed(0),
      ),
    ),
    words('how they counted', ({ is }) => is),
  ]);
