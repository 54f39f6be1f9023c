// Tests the line of `explainLimits`, which names the limit that ended a program.

import { expect, test } from 'vitest';
import type { Outcome } from '../../src/channel/outcome.js';
import { explained } from '../../src/programs/limit-line.js';

const timings = { memoryMapNs: 0, instantiateNs: 0, guestStartNs: 0, guestRunNs: 0 };
const ended = (code: string, details: Record<string, unknown> = {}, stderr: string | Uint8Array = ''): Outcome => ({
  exitCode: 124,
  stdout: '',
  stderr,
  timings,
  failure: { code, message: 'it is over', details },
});

test.each([
  ['ERR_TIMEOUT', {}, { timeout: 5 }, 'timeout'],
  ['ERR_TIMEOUT', {}, {}, 'limits.wallMs'],
  ['ERR_CPU_LIMIT', {}, { timeout: 5 }, 'limits.cpuMs'],
  ['ERR_MEMORY_LIMIT', { limit: 'memoryBytes' }, {}, 'limits.memoryBytes'],
  ['ERR_MEMORY_LIMIT', { limit: 'totalMemoryBytes' }, {}, 'limits.totalMemoryBytes'],
  ['ERR_RESULT_LIMIT', {}, {}, 'limits.resultBytes'],
])('names the limit of %s %j with %j', (code, details, options, limit) => {
  const { stderr } = explained(ended(code, details), { ...options, explainLimits: true });
  expect(String(stderr)).toBe(`coldframe: it is over (${code}, limit: ${limit})\n`);
});

test.each([['text'], ['text\n'], [Buffer.from('bytes')], [Buffer.from('bytes\n')], [Buffer.from([0xff])]])(
  'begins the line after a line feed in %j',
  (written) => {
    const { stderr } = explained(ended('ERR_TIMEOUT', {}, written), { explainLimits: true });
    const output = typeof written === 'string' ? Buffer.from(written) : written;
    const separator = output.at(-1) === 10 ? '' : '\n';
    const line = `${separator}coldframe: it is over (ERR_TIMEOUT, limit: limits.wallMs)\n`;
    expect(Buffer.from(stderr as Uint8Array)).toEqual(Buffer.concat([output, Buffer.from(line)]));
  },
);

test.each([
  ['the option is not set', ended('ERR_TIMEOUT'), {}],
  ['the option is false', ended('ERR_TIMEOUT'), { explainLimits: false }],
  ['the call has no options', ended('ERR_TIMEOUT'), undefined],
  ['no limit ended the program', ended('ERR_CANCELED'), { explainLimits: true }],
  ['the program ended by itself', { exitCode: 1, stdout: '', stderr: 'own', timings }, { explainLimits: true }],
])('does not change the outcome if %s', (_, outcome: Outcome, options) => {
  expect(explained(outcome, options)).toBe(outcome);
});
