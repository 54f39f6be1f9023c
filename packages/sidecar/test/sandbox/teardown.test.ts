// Tests the end of Node's environment while guests run in the environment. For each way of ending,
// the addon must not crash, hang or prevent the end.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const FIXTURE = fileURLToPath(new URL('../fixtures/teardown.mjs', import.meta.url));

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
}

function run(way: string): Promise<Ended> {
  const child = spawn(process.execPath, ['--expose-gc', FIXTURE, way], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, output })));
}

const ways: [way: string, code: number, output: string][] = [
  ['idle', 0, ''],
  ['pending', 0, 'the event loop waited'],
  ['shutdown', 0, ''],
  ['uncaught', 1, 'Error: uncaught'],
  ['collected', 0, 'no thread left'],
  ['terminate', 0, 'no thread left'],
  ['workerExit', 0, 'no thread left'],
];

test.each(ways)('the environment ends with guests in it: %s', async (way, code, output) => {
  const ended = await run(way);
  expect(ended).toMatchObject({ code, signal: null });
  expect(ended.output).toContain(output);
});

test.each(['exit', 'exitInline'])('the environment ends with guests in it ten times: %s', async (way) => {
  for (let i = 0; i < 10; i++) expect(await run(way)).toMatchObject({ code: 7, signal: null });
});
