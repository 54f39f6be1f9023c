// Compares error messages with V8's, recorded from the pinned Node (error-texts/record.mjs).
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BareGuest } from './bare-guest.mjs';
import { knownDifferences } from './error-texts/known-differences.mjs';

const recorded = JSON.parse(readFileSync(new URL('error-texts/recorded.json', import.meta.url), 'utf8'));
const LEAST_EQUAL = 0.9;

const programFor = (source) => `try { native.evalScript(${JSON.stringify(source)}, 'case.js'); print('no error'); }
  catch (error) { print(error.name + ': ' + error.message); }`;

describe('error texts', async () => {
  const guest = new BareGuest();
  const results = [];
  for (const [source, expected] of recorded) {
    const { out } = await guest.run(programFor(source));
    results.push({ source, expected, actual: out.slice(0, -1) });
  }

  it("equal V8's in nearly all cases", () => {
    const equal = results.filter((result) => result.actual === result.expected);
    expect(equal.length / results.length).toBeGreaterThan(LEAST_EQUAL);
  });

  it("differ from V8's only in the known cases", () => {
    const different = results.filter((result) => result.actual !== result.expected);
    const unexpected = different.filter((result) => !knownDifferences.has(result.source));
    expect(unexpected).toEqual([]);
  });

  it('differ in every case of the list', () => {
    const equal = new Set(results.filter((result) => result.actual === result.expected).map((result) => result.source));
    expect([...knownDifferences.keys()].filter((source) => equal.has(source))).toEqual([]);
    const sources = new Set(recorded.map(([source]) => source));
    expect([...knownDifferences.keys()].filter((source) => !sources.has(source))).toEqual([]);
  });
});
