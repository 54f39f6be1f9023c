// Tests the log for developers. The variable COLDFRAME_LOG of the app's process chooses the topics
// of the log.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const SDK = new URL('../../dist/index.js', import.meta.url).href;

/** Runs an app that uses runtimes, snapshots and programs on a sidecar. Returns its stderr. */
async function stderrOf(open: string, log: string): Promise<string> {
  const code = `
    import { NodeRuntime, Sidecar } from ${JSON.stringify(SDK)};
    const sidecar = await Sidecar.${open}();
    const runtime = await NodeRuntime.create({ sidecar, env: { SECRET: 'hidden' } });
    await runtime.exec('process.exit(3) // hidden');
    const snapshot = await runtime.snapshot();
    await runtime.rollback(snapshot);
    await sidecar.dispose();
  `;
  const args = ['--input-type=module', '-e', code];
  const { stderr } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, COLDFRAME_LOG: log } });
  return stderr;
}

describe.each(['spawn', 'embedded'])('%s', (open) => {
  test('writes runtimes, programs and snapshots to stderr, and no content of the guest', async () => {
    const lines = await stderrOf(open, 'all');
    expect(lines).toMatch(/^coldframe \d+\.\d{6} runtime: 1 created$/m);
    expect(lines).toMatch(/ program: 1\/\d+ created: Exec, parent 1$/m);
    expect(lines).toMatch(/ program: 1\/\d+ exited: 3 \(no failure\)$/m);
    expect(lines).toMatch(/ snapshot: snap-\w+ taken of 1: 0 programs, \d+ bytes$/m);
    expect(lines).toMatch(/ snapshot: snap-\w+ replaces the state of 1: 0 programs$/m);
    expect(lines).not.toContain('hidden');
  });

  test('writes only the chosen topics', async () => {
    const topics = (await stderrOf(open, 'program,snapshot')).match(/(?<=^coldframe \S+ )\w+/gm);
    expect([...new Set(topics)].sort()).toEqual(['program', 'snapshot']);
  });

  test('writes nothing without the variable', async () => {
    expect(await stderrOf(open, '')).toBe('');
  });

  test('refuses an unknown topic and names the known topics', async () => {
    const failure = stderrOf(open, 'everything');
    await expect(failure).rejects.toThrow(/expected all, or some of request, runtime, program, snapshot/);
  });
});

test('writes the requests of a sidecar process', async () => {
  const lines = await stderrOf('spawn', 'request');
  expect(lines).toMatch(/ request: \d+ runtime\.create, \d+ bytes$/m);
  expect(lines).toMatch(/ request: \d+ sends reply, \d+ bytes$/m);
});
