// The report from a made-up run: targets, warnings, tables, the page. Drawings are checked by what they must contain, not byte by byte.

import { expect, test } from 'vitest';
import { duration } from '../src/report/charts/axes.js';
import { logScale } from '../src/report/charts/scale.js';
import { escapeText } from '../src/report/charts/svg.js';
import { ms, percentage, seconds, textTable } from '../src/report/format.js';
import { renderPage } from '../src/report/page.js';
import { toJson } from '../src/report/report.js';
import { targetTable } from '../src/report/tables.js';
import { isWellNested } from './helpers/markup.js';
import { fakeReport } from './helpers/report.js';

const verdicts = (report: ReturnType<typeof fakeReport>) =>
  Object.fromEntries(report.targets.map((target) => [target.what, target.verdict]));

test('a run within its targets meets them all', () => {
  const report = fakeReport();
  expect(report.warnings).toEqual([]);
  expect(new Set(Object.values(verdicts(report)))).toEqual(new Set(['met']));
});

test('a slow run misses its latencies, and nothing else', () => {
  const seen = verdicts(fakeReport(10));
  expect(seen['shared cold']).toBe('missed');
  expect(seen['owned cold']).toBe('missed');
  expect(seen['sidecar binary']).toBe('met');
  expect(seen['right runs, all rows']).toBe('met');
});

test('one wrong run among thousands misses the success target and is never shown as 100 %', () => {
  const report = fakeReport(1, (run) => {
    const row = run.results[0];
    if (row)
      row.runs = { total: 80_000, right: 79_999, successRate: 79_999 / 80_000, failures: { 'second snippet: exit code 1': 1 } };
  });
  expect(verdicts(report)['right runs, all rows']).toBe('missed');
  expect(percentage(79_999 / 80_000)).toBe('99.9 %');
  expect(report.warnings).toEqual(['owned-sidecar 1 sequential: 1 of 80000 runs were wrong: second snippet: exit code 1']);
});

test('what was not measured is not met', () => {
  const report = fakeReport(1, (run) => {
    run.density = [{ error: 'density of runtime: Error: gone' }];
    run.results = run.results.filter((row) => row.scenario !== 'embedded');
    run.skipped = [{ scenario: 'embedded', batchSize: 1, mode: 'sequential', reason: 'Error: no addon' }];
    delete run.floors.socket_ping;
  });
  const seen = verdicts(report);
  expect(seen['private memory per idle runtime']).toBe('unmeasured');
  expect(seen['embedded warm']).toBe('unmeasured');
  expect(seen['resident warm / socket ping']).toBe('unmeasured');
  expect(report.warnings).toContain('embedded skipped: Error: no addon (1 row)');
  expect(report.warnings).toContain('not measured: density of runtime: Error: gone');
  expect(renderPage(report)).toContain('unmeasured');
});

test('floors that drift and an unstripped binary are warned of', () => {
  const report = fakeReport(1, (run) => {
    if (run.floors.bin_true) run.floors.bin_true.drift = 1.6;
    run.sidecarBinary = { bytes: 9e6, stripped: false };
  });
  expect(report.warnings).toEqual([
    'floor bin_true changed during the run: 1.60 × its first half',
    'the sidecar binary is not stripped: its size is not that of a release',
  ]);
});

test('the table of targets', () => {
  const { head, rows, textColumns } = targetTable(fakeReport());
  expect(textTable(head, rows, textColumns)).toMatchInlineSnapshot(`
    "target                                                                   bound       measured  verdict
    -------------------------------------------------------------  ---------------  -------------  -------
    owned cold / node -e 1 of the pinned Node                             ≤ 0.25 ×        0.162 ×  met
    owned cold                                                              ≤ 5 ms        4.39 ms  met
    shared cold                                                          ≤ 0.15 ms       0.110 ms  met
    resident cold                                                        ≤ 0.25 ms       0.219 ms  met
    resident warm / socket ping                                              ≤ 3 ×         2.70 ×  met
    embedded create + first exec                                         ≤ 0.15 ms       0.110 ms  met
    embedded warm                                                        ≤ 0.06 ms      0.0219 ms  met
    embedded inline create + first exec                                   ≤ 0.1 ms      0.0877 ms  met
    embedded inline warm                                                 ≤ 0.02 ms      0.0175 ms  met
    shared cold, with an import through Node's loader                     ≤ 0.2 ms       0.110 ms  met
    shared cold, empty pool                                               ≤ 0.8 ms       0.110 ms  met
    shared cold, with an import, empty pool                               ≤ 0.8 ms       0.110 ms  met
    embedded cold, with an import                                         ≤ 0.2 ms       0.110 ms  met
    embedded inline cold, with an import                                 ≤ 0.12 ms       0.110 ms  met
    owned-sidecar: concurrent batch 200, amortised / sequential            ≤ 1.2 ×         1.00 ×  met
    shared-sidecar: concurrent batch 200, amortised / sequential           ≤ 1.2 ×         1.00 ×  met
    resident-runner: concurrent batch 200, amortised / sequential          ≤ 1.2 ×         1.00 ×  met
    embedded: concurrent batch 200, amortised / sequential                 ≤ 1.2 ×         1.00 ×  met
    embedded-inline: concurrent batch 200, amortised / sequential          ≤ 1.2 ×         1.00 ×  met
    right runs, all rows                                                   ≥ 100 %       100.00 %  met
    shared, 64 starts, 16 at a time                                ≥ 5000 starts/s  6346 starts/s  met
    private memory per idle runtime                                      ≤ 300 KiB        220 KiB  met
    private memory per idle resident runner                              ≤ 300 KiB        220 KiB  met
    sidecar binary                                                          ≤ 5 MB        4.20 MB  met"
  `);
});

test('the page stands alone: valid nesting, nothing loaded, names escaped, one drawing per chart', () => {
  const page = renderPage(fakeReport());
  expect(page).not.toMatch(/(src|href)=|@import|url\(|<script/);
  expect(page).toContain('Example &#60;processor&#62;');
  expect(page.match(/<svg /g)).toHaveLength(4);
  expect(page).not.toMatch(/NaN|Infinity|undefined/);
  expect(isWellNested(page)).toBe(true);
});

test('a page of a run in which nothing worked is still a page', () => {
  const page = renderPage(
    fakeReport(1, (run) => {
      run.results = [];
      run.floors = {};
      run.density = [];
    }),
  );
  expect(page).toContain('Targets');
  expect(page).not.toMatch(/NaN|Infinity/);
});

test('a logarithmic scale covers its values and labels whole decades', () => {
  const scale = logScale([0.03, 42], 0, 100);
  expect(scale.ticks[0]).toBe(0.02);
  expect(scale.ticks.at(-1)).toBe(50);
  expect(scale.at(0.02)).toBe(0);
  expect(scale.at(50)).toBeCloseTo(100, 6);
  expect(scale.at(1) - scale.at(0.1)).toBeCloseTo(scale.at(10) - scale.at(1), 6);
  expect(scale.ticks.filter((tick) => scale.isLabelled(tick))).toEqual([0.1, 1, 10]);
  expect(() => logScale([0], 0, 1)).toThrow(RangeError);
});

test('numbers for people', () => {
  expect([0.01234, 1.234, 123.4, 0, null].map(ms)).toEqual(['0.0123', '1.23', '123', '0', '–']);
  expect([0.01234, 20, 1500].map(duration)).toEqual(['12.3 µs', '20 ms', '1.50 s']);
  expect([999, 61_000].map(seconds)).toEqual(['1 s', '1 min 01 s']);
  expect(escapeText('<a "b" & c>')).toBe('&#60;a &#34;b&#34; &#38; c&#62;');
});

test('the JSON keeps the resolution of the clock and six digits of the samples', () => {
  const back = JSON.parse(toJson(fakeReport()));
  expect(back.timer.resolutionMs).toBe(0.00006);
  expect(back.results[0].samples.coldMs[1]).toBeCloseTo(4.019, 2);
});
