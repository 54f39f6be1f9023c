// Tests the language that a request names: from the option, or from the extension of a file.

import { expect, test } from 'vitest';
import type { ResidentRunnerOptions, RunOptions } from '../../src/index.js';
import { RuntimePrograms } from '../../src/programs/runtime-programs.js';
import { Runners } from '../../src/runner/runners.js';

const OUTCOME = { exitCode: 0, stdout: '', stderr: '', timings: {} };

/** Returns the objects of one runtime, and the list of their requests. */
function recorded() {
  const requests: object[] = [];
  const connection = {
    nextId: () => 1,
    start: (_id: number, program: object) => {
      requests.push(program);
      return OUTCOME;
    },
    request: async (_name: string, body: object) => {
      requests.push(body);
      return { runner: 1, pid: 2, timings: {} };
    },
  };
  const access = { connection, runtime: 1, assertUsable: () => {}, whileInUse: (work: () => unknown) => work() };
  const programs = new RuntimePrograms(access as never, undefined);
  return { programs, runners: new Runners(access as never, programs.pids, undefined), requests };
}

const last = (requests: object[]): object | undefined => requests.at(-1);

test('programs name Python and no other language', async () => {
  const { programs, requests } = recorded();
  for (const [options, language] of [
    [undefined, undefined],
    [{ language: 'javascript' }, undefined],
    [{ language: 'python' }, 'python'],
  ] as [RunOptions | undefined, string | undefined][]) {
    await programs.exec('print(1)', options);
    expect(last(requests)).toMatchObject({ mode: 'exec', code: 'print(1)' });
    expect(last(requests)).toHaveProperty('language', language);
    await programs.run('print(1)', options);
    expect(last(requests)).toHaveProperty('language', language);
  }
});

test('a program in Python is sent unchanged with options of the interpreter', async () => {
  const { programs, requests } = recorded();
  await programs.exec('print(1)', { language: 'python', execArgv: ['-O', '--input-type=x'], args: ['a'] });
  expect(last(requests)).toMatchObject({ code: 'print(1)', execArgv: ['-O', '--input-type=x'], args: ['a'] });
});

test('the extension of a file or the option selects the language of a file', async () => {
  const { programs, requests } = recorded();
  for (const [path, options, language] of [
    ['a.py', undefined, 'python'],
    ['a.py', { args: ['b'] }, 'python'],
    ['a.py', { language: 'javascript' }, undefined],
    ['a.js', undefined, undefined],
    ['py', undefined, undefined],
    ['a.py.js', undefined, undefined],
    ['tool', { language: 'python' }, 'python'],
  ] as [string, RunOptions | undefined, string | undefined][]) {
    await programs.execFile(path, options);
    expect(last(requests)).toMatchObject({ mode: 'file', code: path });
    expect(last(requests)).toHaveProperty('language', language);
  }
});

test('a runner has the language of its options', async () => {
  const { runners, requests } = recorded();
  for (const language of [undefined, 'javascript', 'bash', 'python'] as ResidentRunnerOptions['language'][]) {
    await runners.create({ language });
    expect(last(requests)).toHaveProperty('language', language);
  }
});

test('another language is refused with the possible languages', async () => {
  const { programs, runners } = recorded();
  const wrong = { code: 'ERR_INVALID_OPTION', option: 'language', received: expect.stringContaining('ruby') };
  await expect(programs.exec('1', { language: 'ruby' as never })).rejects.toMatchObject({
    ...wrong,
    expected: "'javascript', 'typescript' or 'python'",
  });
  await expect(runners.create({ language: 'ruby' as never })).rejects.toMatchObject({
    ...wrong,
    expected: "'javascript', 'bash' or 'python'",
  });
});
