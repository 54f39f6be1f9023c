// Tests that the rules about programs hold for the commands that the shell runs in its own process.

import { describe, expect, test } from 'vitest';
import type { NodeRuntime, PermissionEvent, PermissionsPolicy } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

const permissions: PermissionsPolicy = {
  childProcess: { default: 'allow', rules: [{ mode: 'deny', patterns: ['rm', 'curl'] }] },
};
const SENTENCE =
  '(the permission childProcess.spawn is denied by the rule permissions.childProcess.rules[0]; ' +
  'the app can allow it with a deeper rule in the option permissions.childProcess)';

/** Scripts that run `rm` on the file `x`. */
const SCRIPTS = {
  'one command': 'rm x',
  'a script of several commands': 'true; rm x; exit $?',
  'a full path': '/bin/rm x',
  'a link to the command': 'ln -s /bin/rm /tmp/other; /tmp/other x',
  'a pipeline': 'rm x | cat; exit ${PIPESTATUS[0]}',
  'the end of a pipeline': 'echo x | rm x',
  'a subshell': '(rm x)',
  'a group': '{ rm x; }',
  'a substitution': 'y=$(rm x); exit $?',
  'a function': 'f() { rm "$@"; }; f x',
  'an alias': 'shopt -s expand_aliases\nalias r=rm\nr x',
  command: 'command rm x',
  eval: 'eval "rm x"',
  exec: 'exec rm x',
  env: 'env rm x',
  nohup: 'nohup rm x',
  timeout: 'timeout 60 rm x',
  time: 'time rm x',
  nice: 'nice rm x',
  'sh -c': "sh -c 'rm x'",
  'sh FILE': "echo 'rm x' > script; sh script",
  'a script with a first line': "printf '#!/bin/sh\\nrm x\\n' > script; chmod +x script; ./script",
  'a sourced file': "echo 'rm x' > script; . ./script",
  'a trap': "trap 'rm x; exit $?' EXIT",
  redirections: 'rm x > out 2> err; code=$?; cat err >&2; exit $code',
};
/** Commands that run `rm`, and that report the failure with an exit code of their own. */
const RUNNERS = {
  'the background': '(sleep 0; rm x) & wait $!',
  xargs: 'echo x | xargs rm',
  'find -exec': 'find x -exec rm {} ";"',
  'find -exec +': 'find x -exec rm {} +',
};

const sh = async (runtime: NodeRuntime, script: string) => {
  await runtime.writeFile('/workspace/x', '');
  const { exitCode, stderr } = await runtime.execCommand('sh', ['-c', script]);
  return { exitCode, stderr, isThere: await runtime.exists('/workspace/x') };
};

describe.each(MODES)('$name', (mode) => {
  test('a rule about a command holds inside the shell', () =>
    withRuntime(mode, { permissions }, async (runtime) => {
      const results: Record<string, unknown> = {};
      const expected: Record<string, unknown> = {};
      for (const [name, script] of Object.entries(SCRIPTS)) {
        const { exitCode, stderr, isThere } = await sh(runtime, script);
        results[name] = { exitCode, isThere, stderr };
        expected[name] = { exitCode: 126, isThere: true, stderr: expect.stringContaining('ermission denied') };
      }
      expect(results).toEqual(expected);
      for (const [name, script] of Object.entries(RUNNERS)) {
        const { exitCode, stderr, isThere } = await sh(runtime, script);
        expect([name, exitCode === 0, isThere, stderr]).toEqual([
          name,
          false,
          true,
          expect.stringContaining('Permission denied'),
        ]);
      }
      // The app's own command is not checked, and other commands run.
      expect((await runtime.execCommand('rm', ['x'])).exitCode).toBe(0);
      expect((await sh(runtime, 'mv x y && ls y && mv y x')).exitCode).toBe(0);
    }));
});

describe.each(MODES.slice(1, 2))('$name', (mode) => {
  test('the message has the sentence of the denial', () =>
    withRuntime(mode, { permissions }, async (runtime) => {
      expect((await sh(runtime, 'rm x')).stderr).toBe(`sh: line 1: rm: Permission denied ${SENTENCE}\n`);
      expect((await sh(runtime, 'curl localhost')).stderr).toBe(`sh: line 1: curl: Permission denied ${SENTENCE}\n`);
    }));

  test('the app receives the decision about a command that the shell runs', () =>
    withRuntime(mode, { permissions }, async (runtime) => {
      const events: PermissionEvent[] = [];
      const stop = await runtime.onPermission((event) => void events.push(event));
      await sh(runtime, 'rm x; mkdir made');
      await stop();
      const spawns = events
        .filter(({ scope }) => scope === 'childProcess')
        .map(({ resource, decision, rule }) => ({ resource, decision, rule }));
      expect(spawns).toEqual([
        { resource: '/bin/rm', decision: 'deny', rule: 0 },
        { resource: '/bin/mkdir', decision: 'allow', rule: undefined },
      ]);
    }));

  test('the words of the shell itself need no rule', () =>
    withRuntime(
      mode,
      { permissions: { childProcess: { rules: [{ mode: 'allow', patterns: ['sh', 'cat'] }] } } },
      async (runtime) => {
        const script = 'cd /tmp && test -d . && [ a = a ] && printf "%s\\n" "$(pwd)" && true && echo done | cat && ls';
        const { exitCode, stdout, stderr } = await runtime.execCommand('sh', ['-c', script]);
        expect([stdout, exitCode]).toEqual(['/tmp\ndone\n', 126]);
        expect(stderr).toContain('ls: Permission denied (the permission childProcess.spawn is denied by the default of');
      },
    ));

  test('a command that a program starts runs its own name again only if the policy allows the name', () =>
    withRuntime(
      mode,
      { permissions: { childProcess: { default: 'allow', rules: [{ mode: 'deny', patterns: ['find'] }] } } },
      async (runtime) => {
        const { stdout, stderr } = await runtime.execCommand('find', ['/etc/hosts', '-exec', 'find', '{}', ';']);
        expect(stdout).toBe('');
        expect(stderr).toContain('find: Permission denied');
      },
    ));
});
