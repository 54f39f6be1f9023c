// Tests shells that the app starts, in every mode. The fixtures `shell-one-liners` and
// `child-process-shell`, recorded from bash and Node, test the language of the shell.

import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';

const FILES = {
  '/workspace/a.txt': 'one\ntwo\nthree\n',
  '/workspace/x.js': 'process.stdin.on("data", (data) => process.stdout.write(String(data).replace(/t/g, "T")));',
  '/workspace/node_modules/.bin/tool': '#!/usr/bin/env node\nrequire("fs").writeFileSync("built.js", "console.log(\'built\')");',
  '/workspace/package-script.sh': '#!/bin/sh\nset -e\ntool && node built.js "$@"\n',
};

describe.each(MODES)('$name', (mode) => {
  test('runs commands by name, and shell lines with programs and files', () =>
    withRuntime(mode, { files: FILES }, async (runtime) => {
      const run = async (command: string, ...args: string[]) => {
        const { exitCode, stdout, stderr } = await runtime.execCommand(command, args);
        return [exitCode, stdout, stderr];
      };
      expect(await run('cat', 'a.txt')).toEqual([0, FILES['/workspace/a.txt'], '']);
      expect(await run('test', '1', '=', '2')).toEqual([1, '', '']);
      expect(await run('sh', '-c', 'cat a.txt | node x.js | grep T > z && cat z; exit 3')).toEqual([3, 'Two\nThree\n', '']);
      expect(Buffer.from(await runtime.readFile('/workspace/z')).toString()).toBe('Two\nThree\n');
      expect(await run('bash', '-c', 'nothing-of-this-name')).toEqual([
        127,
        '',
        'bash: line 1: nothing-of-this-name: command not found\n',
      ]);
      expect((await run('bash', '-c', 'if then'))[0]).toBe(2);
    }));

  test('a command whose output cannot be redirected fails, and the script continues', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.writeFile('/srv/of-root', 'kept', { owner: 'root', mode: 0o600 });
      const script = `echo a > /nope/x; echo $?
        { echo b; } >> /etc/passwd/x; echo $?
        node -p 1 > /srv/of-root; echo $?
        f() { echo c; }; f > /srv/of-root || echo failed`;
      const { stdout, stderr, exitCode } = await runtime.execCommand('bash', ['-c', script]);
      expect([stdout, exitCode]).toEqual(['1\n1\n1\nfailed\n', 0]);
      expect(stderr.replace(/line \d/g, 'line N').split('\n')).toEqual([
        'bash: line N: /nope/x: No such file or directory',
        'bash: line N: /etc/passwd/x: Not a directory',
        'bash: line N: /srv/of-root: Permission denied',
        'bash: line N: /srv/of-root: Permission denied',
        '',
      ]);
      expect(Buffer.from(await runtime.readFile('/srv/of-root')).toString()).toBe('kept');
    }));

  test('commands report the reason of a file that cannot be used', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.writeFile('/srv/root/secret', 's', { owner: 'root', mode: 0o600 });
      await runtime.chown('/srv/root', 'root');
      const script = `cd /srv/root; cat secret; touch new; mkdir -p a/b; cp secret /tmp; head -1 secret; sed -i s/a/b/ secret
        cat .; cat secret/x; cat missing; nl secret; rm secret; mktemp ./XXXXXX; tr a b < secret; . ./secret
        x=$(node -e 'fs.readFileSync("secret")' 2>&1); echo "$x" | grep -o 'Error: EACCES: permission denied, open'`;
      const { stdout, stderr } = await runtime.execCommand('bash', ['-c', script]);
      expect(stderr.replace(/line \d+: /g, '').split('\n')).toEqual([
        'cat: secret: Permission denied',
        "touch: cannot touch 'new': Permission denied",
        "mkdir: cannot create directory 'a/b': Permission denied",
        "cp: cannot copy 'secret': Permission denied",
        'head: secret: Permission denied',
        'sed: secret: Permission denied',
        'cat: .: Is a directory',
        'cat: secret/x: Not a directory',
        'cat: missing: No such file or directory',
        'nl: /srv/root/secret: Permission denied',
        "rm: cannot remove 'secret': Permission denied",
        "mktemp: failed to create file via template '/srv/root/XXXXXX': Permission denied",
        'bash: secret: Permission denied',
        'bash: ./secret: Permission denied',
        '',
      ]);
      // The message of a program stays as the program wrote the message.
      expect(stdout).toBe('Error: EACCES: permission denied, open\n');
    }));

  test('a package script finds the tools of its folder', () =>
    withRuntime(mode, { files: FILES }, async (runtime) => {
      await runtime.execCommand('chmod', ['+x', 'node_modules/.bin/tool', 'package-script.sh']);
      const PATH = '/workspace/node_modules/.bin:/usr/local/bin:/usr/bin:/bin';
      const { exitCode, stdout, stderr } = await runtime.execCommand('./package-script.sh', [], { env: { PATH } });
      expect([exitCode, stdout, stderr]).toEqual([0, 'built\n', '']);
    }));

  test('children have the umask of their parent, and a subshell has a umask of its own', () =>
    withRuntime(mode, {}, async (runtime) => {
      const show = `node -p 'process.umask().toString(8)'`;
      const script = `umask 027; ${show}; (umask 077; ${show}; sh -c umask); echo $(umask 7; umask)
        umask; echo > file; ls -l file`;
      const { stdout, stderr } = await runtime.execCommand('sh', ['-c', script]);
      const lines = stdout.split('\n').map((line) => line.split(' ')[0]);
      expect([lines, stderr]).toEqual([['27', '77', '0077', '0007', '0027', '-rw-r-----', ''], '']);
    }));

  test('reads stdin line by line and writes output at once', () =>
    withRuntime(mode, {}, async (runtime) => {
      const given = await runtime.execCommand('sh', ['-c', 'read x; echo "[$x]"; node -p "fs.readFileSync(0, \'utf8\')"'], {
        stdin: 'a line\nthe rest',
      });
      expect(given.stdout).toBe('[a line]\nthe rest\n');
      const live = await runtime.spawnCommand('bash', ['-c', 'while read -r line; do echo "<$line>"; done; echo end']);
      const output = live.stdout[Symbol.asyncIterator]();
      const next = async () => Buffer.from((await output.next()).value ?? []).toString();
      await live.writeStdin('one\n');
      expect(await next()).toBe('<one>\n');
      await live.writeStdin('two\n');
      expect(await next()).toBe('<two>\n');
      await live.closeStdin();
      expect(await next()).toBe('end\n');
      expect(await live.wait()).toBe(0);
    }));

  test('ends a shell that loops, waits or forks at its timeout, with all its children', () =>
    withRuntime(mode, { limits: { processes: 24 } }, async (runtime) => {
      const ended = async (text: string) => {
        const result = await runtime.execCommand('bash', ['-c', text], { timeout: 400 });
        return [result.exitCode, result.error?.code];
      };
      expect(await ended('while :; do :; done')).toEqual([124, 'ERR_TIMEOUT']);
      expect(await ended('sleep 20 & node -e "setInterval(() => {}, 1000)"')).toEqual([124, 'ERR_TIMEOUT']);
      await ended('bomb() { bomb | bomb & }; bomb; sleep 20');
      expect((await runtime.execCommand('sh', ['-c', 'echo alive | cat'])).stdout).toBe('alive\n');
      expect(await runtime.processes()).toEqual([]);
    }));
});
