// The benchmark of the server. Single calls over HTTP are beside equal work with the SDK's own
// calls. Further rows have calls in flight at once, and many live sandboxes behind one server. The
// server is a process of its own on this machine, and so is its sidecar.
//
// Next: `times.ts`, `rates.ts`, `live.ts` for the rows, `place.ts` for the requests.

import { join } from 'node:path';
import { Sidecar } from 'coldframe';
import type { Benchmark, Section } from '../suite/benchmark.js';
import { numberOption, numbersOption, textOption } from '../suite/options.js';
import type { Target } from '../suite/targets.js';
import { ms } from '../suite/text.js';
import { liveTable, publishedChart, publishedTable, rateTable, timeTable } from './figures.js';
import { type LiveServeResult, measureServed } from './live.js';
import { makeBase } from './own.js';
import { Place } from './place.js';
import { CREATES, measureRate, type RateResult, rateRows, STREAMS } from './rates.js';
import { measureTime, type ServeSetup, type TimeResult } from './row.js';
import { timeRows } from './times.js';

export type ServeBenchOptions = { only: string; samples: number; share: number; live: readonly number[] };

export type ServeRun = { times: TimeResult[]; rates: RateResult[]; live: LiveServeResult[] };

interface Setup extends ServeSetup, ServeBenchOptions {}

/** The number of live sandboxes of the promise. */
const PROMISED_LIVE = 5_000;

const times: Section<Setup, ServeRun, 'times'> = {
  field: 'times',
  open: ({ only, ...setup }) => ({
    rows: timeRows
      .filter(({ name }) => name.includes(only))
      .map((row) => ({ name: row.name, key: { row: row.name }, measure: () => measureTime(row, setup) })),
  }),
  describe: ({ floorName, floor, server, ratio, error }) =>
    error ?? `server ${ms(server?.p50)} ms, ${floorName} ${ms(floor?.p50)} ms: ${ratio?.toFixed(2)} ×`,
  outcomes: ({ name, error }) => [{ name, total: 1, right: error === undefined ? 1 : 0, failure: error }],
  figures: ({ name, server, floor, floorName }) => [
    { name, statistics: server },
    { name: `${name}, ${floorName}`, statistics: floor, isFloor: true },
  ],
  targets: timeRows.flatMap(({ name, target }): Target<ServeRun>[] => {
    if (target === undefined) return [];
    const { promise, atMost, of } = target;
    const measured = (run: { times: readonly TimeResult[] }): number | undefined => {
      const result = run.times.find((row) => row.name === name);
      return (of === 'ratio' ? result?.ratio : result?.server?.p50) ?? undefined;
    };
    return [{ promise, what: name, unit: of === 'ratio' ? '×' : 'ms', atMost, measured }];
  }),
  tables: (run) => [timeTable(run.times)],
};

const rates: Section<Setup, ServeRun, 'rates'> = {
  field: 'rates',
  open: ({ only, share, ...setup }) => ({
    rows: rateRows(share / 100)
      .filter(({ name }) => name.includes(only))
      .map((row) => ({ name: row.name, key: { row: row.name }, measure: () => measureRate(row, setup) })),
  }),
  describe: ({ right, total, perSecond, times: statistics }) =>
    `${right} of ${total} right, ${perSecond.toFixed(0)} each second, ${ms(statistics?.p50)} ms`,
  outcomes: ({ name, total, right, failure }) => [{ name, total, right, failure }],
  figures: ({ name, times: statistics }) => [{ name, statistics }],
  targets: [
    {
      promise: 'V2',
      what: 'sandboxes created each second, 64 in flight',
      unit: 'starts/s',
      atLeast: 500,
      measured: (run) => run.rates.find(({ name }) => name === CREATES)?.perSecond,
    },
    {
      promise: 'V7',
      what: 'streams of 200 clients at once that are complete',
      unit: '%',
      atLeast: 100,
      measured: (run) => {
        const row = run.rates.find(({ name }) => name === STREAMS);
        return row && (100 * row.right) / row.total;
      },
    },
  ],
  tables: (run) => [rateTable(run.rates), publishedTable(run.rates)],
  charts: (run) => [publishedChart(run.rates)],
};

const live: Section<Setup, ServeRun, 'live'> = {
  field: 'live',
  open: ({ only, live: counts, ...setup }) => ({
    rows: counts
      .map((count) => ({ name: `${count} live sandboxes`, key: { count }, measure: () => measureServed(count, setup) }))
      .filter(({ name }) => name.includes(only)),
  }),
  describe: ({ answered, kibEach, createMs, commandMs }) =>
    `${answered} answered, ${kibEach.toFixed(0)} KiB each, create ${ms(createMs?.p50)} ms, command ${ms(commandMs?.p50)} ms`,
  outcomes: ({ count, answered, failure }) => [{ name: `${count} live sandboxes`, total: count, right: answered, failure }],
  figures: ({ count, createMs, commandMs }) => [
    { name: `create among ${count} live sandboxes`, statistics: createMs },
    { name: `a command among ${count} live sandboxes`, statistics: commandMs },
  ],
  targets: [
    {
      promise: 'V8',
      what: 'of 5,000 live sandboxes, the sandboxes that answer a command',
      unit: '%',
      atLeast: 100,
      measured: (run) => {
        const row = run.live.find(({ count }) => count >= PROMISED_LIVE);
        return row && (100 * row.answered) / row.count;
      },
    },
  ],
  tables: (run) => [liveTable(run.live)],
};

export const serve: Benchmark<ServeBenchOptions, Setup, ServeRun> = {
  name: 'serve',
  schema: 'coldframe-serve/1',
  heading: 'Coldframe: the server',
  summary: `Requests to a server of sandboxes: single calls beside the SDK's own calls, calls in flight at once, and many live
sandboxes.`,
  options: {
    only: textOption({ name: '--only', placeholder: 'TEXT', help: 'only the rows whose name contains TEXT', fallback: '' }),
    samples: numberOption({
      name: '--samples',
      placeholder: 'N',
      help: 'samples of each time',
      fallback: 100,
      from: 2,
      to: 10_000,
    }),
    share: numberOption({
      name: '--share',
      placeholder: 'PERCENT',
      help: 'the share of the calls of the rows with calls at once',
      fallback: 100,
      from: 1,
      to: 1_000,
    }),
    live: numbersOption({
      name: '--live',
      placeholder: 'COUNTS',
      help: 'numbers of live sandboxes',
      fallback: [1_000, PROMISED_LIVE],
      from: 1,
      to: 100_000,
    }),
  },
  floorSamples: () => 0,
  open: async (options, { scratch }) => {
    const [place, sidecar] = await Promise.all([
      Place.start(join(scratch, 'server')),
      Sidecar.spawn({ snapshots: { directory: join(scratch, 'snapshots') } }),
    ]);
    return {
      setup: { ...options, place, sidecar, base: await makeBase(sidecar) },
      close: async () => {
        await Promise.all([place.close(), sidecar.dispose()]);
      },
    };
  },
  sections: [times, rates, live],
};
