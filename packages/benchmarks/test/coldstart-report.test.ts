// Tests the cold-start report of a computed run: targets, warnings, tables and the page. The tests
// check the elements of a drawing, and not its bytes.

import { expect, test } from 'vitest';
import { coldstart } from '../src/coldstart/benchmark.js';
import { duration } from '../src/page/axes.js';
import { logScale } from '../src/page/scale.js';
import { escapeText } from '../src/page/svg.js';
import { renderPage, targetTable, toJson } from '../src/suite/report.js';
import { ms, percentage, seconds, textTable } from '../src/suite/text.js';
import { isWellNested } from './helpers/markup.js';
import { fakeReport } from './helpers/report.js';

const verdicts = (report: ReturnType<typeof fakeReport>) =>
  Object.fromEntries(report.targets.map((target) => [target.what, target.verdict]));

test('meets all targets in a run within the bounds', () => {
  const report = fakeReport();
  expect(report.warnings).toEqual([]);
  expect(new Set(Object.values(verdicts(report)))).toEqual(new Set(['met']));
});

test('misses only the latencies in a slow run', () => {
  const seen = verdicts(fakeReport(10));
  expect(seen['shared cold']).toBe('missed');
  expect(seen['owned cold']).toBe('missed');
  expect(seen['sidecar binary']).toBe('met');
  expect(seen['right runs, all rows']).toBe('met');
});

test('misses the target of right runs for one wrong run of thousands, and never shows 100 %', () => {
  const report = fakeReport(1, (run) => {
    const row = run.results[0];
    if (row)
      row.runs = { total: 80_000, right: 79_999, successRate: 79_999 / 80_000, failures: { 'second snippet: exit code 1': 1 } };
  });
  expect(verdicts(report)['right runs, all rows']).toBe('missed');
  expect(percentage(79_999 / 80_000)).toBe('99.9 %');
  expect(report.warnings).toEqual(['owned-sidecar 1 sequential: 1 of 80000 failed: second snippet: exit code 1']);
});

test('judges values without a measurement as unmeasured', () => {
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
  expect(renderPage(coldstart, report)).toContain('unmeasured');
});

test('warns of floors that changed and of a binary that is not stripped', () => {
  const report = fakeReport(1, (run) => {
    if (run.floors.bin_true) run.floors.bin_true.drift = 1.6;
    run.sidecarBinary = { bytes: 9e6, stripped: false };
  });
  expect(report.warnings).toEqual([
    'floor bin_true changed during the run: 1.60 × its first half',
    'the sidecar binary is not stripped: its size is not that of a release',
  ]);
});

test('shows the targets with their promises, in the order of the specification', () => {
  const { head, rows, textColumns } = targetTable(fakeReport());
  expect(textTable(head, rows, textColumns)).toMatchInlineSnapshot(`
    "target                                                                       bound       measured  verdict
    -----------------------------------------------------------------  ---------------  -------------  -------
    S1 owned cold / node -e 1 of the pinned Node                              ≤ 0.25 ×        0.162 ×  met
    S2 owned cold                                                               ≤ 5 ms        4.39 ms  met
    S3 shared cold                                                           ≤ 0.15 ms       0.110 ms  met
    S4 resident cold                                                         ≤ 0.25 ms       0.219 ms  met
    S5 resident warm / socket ping                                               ≤ 3 ×         2.70 ×  met
    S6 embedded create + first exec                                          ≤ 0.15 ms       0.110 ms  met
    S7 embedded warm                                                         ≤ 0.06 ms      0.0219 ms  met
    S8 embedded inline create + first exec                                    ≤ 0.1 ms      0.0877 ms  met
    S9 embedded inline warm                                                  ≤ 0.02 ms      0.0175 ms  met
    S10 owned-sidecar: concurrent batch 200, amortised / sequential            ≤ 1.2 ×         1.00 ×  met
    S10 shared-sidecar: concurrent batch 200, amortised / sequential           ≤ 1.2 ×         1.00 ×  met
    S10 resident-runner: concurrent batch 200, amortised / sequential          ≤ 1.2 ×         1.00 ×  met
    S10 embedded: concurrent batch 200, amortised / sequential                 ≤ 1.2 ×         1.00 ×  met
    S10 embedded-inline: concurrent batch 200, amortised / sequential          ≤ 1.2 ×         1.00 ×  met
    S11 right runs, all rows                                                   ≥ 100 %       100.00 %  met
    S12 shared, 64 starts, 16 at a time                                ≥ 5000 starts/s  6346 starts/s  met
    S13 shared cold, empty pool                                               ≤ 0.8 ms       0.110 ms  met
    S14 shared cold, with an import through Node's loader                     ≤ 0.2 ms       0.110 ms  met
    S15 shared cold, with an import, empty pool                               ≤ 0.8 ms       0.110 ms  met
    S16 embedded cold, with an import                                         ≤ 0.2 ms       0.110 ms  met
    S17 embedded inline cold, with an import                                 ≤ 0.12 ms       0.110 ms  met
    M1 private memory per idle runtime                                       ≤ 300 KiB        220 KiB  met
    M2 private memory per idle resident runner                               ≤ 300 KiB        220 KiB  met
    M3 sidecar binary                                                         ≤ 6.5 MB        4.20 MB  met"
  `);
});

test('renders a page with valid nesting, escaped names and one drawing per chart, and loads nothing', () => {
  const page = renderPage(coldstart, fakeReport());
  expect(page).not.toMatch(/(src|href)=|@import|url\(|<script/);
  expect(page).toContain('Example &#60;processor&#62;');
  expect(page.match(/<svg /g)).toHaveLength(4);
  expect(page).not.toMatch(/NaN|Infinity|undefined/);
  expect(isWellNested(page)).toBe(true);
});

test('renders a page for a run without results', () => {
  const page = renderPage(
    coldstart,
    fakeReport(1, (run) => {
      run.results = [];
      run.floors = {};
      run.density = [];
    }),
  );
  expect(page).toContain('Targets');
  expect(page).not.toMatch(/NaN|Infinity/);
});

test('covers all values on a logarithmic scale, and labels whole decades', () => {
  const scale = logScale([0.03, 42], 0, 100);
  expect(scale.ticks[0]).toBe(0.02);
  expect(scale.ticks.at(-1)).toBe(50);
  expect(scale.at(0.02)).toBe(0);
  expect(scale.at(50)).toBeCloseTo(100, 6);
  expect(scale.at(1) - scale.at(0.1)).toBeCloseTo(scale.at(10) - scale.at(1), 6);
  expect(scale.ticks.filter((tick) => scale.isLabelled(tick))).toEqual([0.1, 1, 10]);
  expect(() => logScale([0], 0, 1)).toThrow(RangeError);
});

test('formats numbers and escapes text', () => {
  expect([0.01234, 1.234, 123.4, 0, null].map(ms)).toEqual(['0.0123', '1.23', '123', '0', '–']);
  expect([0.01234, 20, 1500].map(duration)).toEqual(['12.3 µs', '20 ms', '1.50 s']);
  expect([999, 61_000].map(seconds)).toEqual(['1 s', '1 min 01 s']);
  expect(escapeText('<a "b" & c>')).toBe('&#60;a &#34;b&#34; &#38; c&#62;');
});

test('keeps the resolution of the clock and six digits of the samples in the JSON', () => {
  const back = JSON.parse(toJson(fakeReport()));
  expect(back.timer.resolutionMs).toBe(0.00006);
  expect(back.results[0].samples.coldMs[1]).toBeCloseTo(4.019, 2);
});
