// Tests shells whose script arrives on an open stdin, interactive shells on a pipe, and pipelines
// whose input arrives slowly. The fixtures `shell-input` and `shell-pipelines`, recorded from bash,
// test the language.

import { describe, expect, test } from 'vitest';
import type { GuestProcess, NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

/** The output of a stream so far, and a test of the reader that waits. */
class Stream {
  #output = '';
  #check = () => {};

  readonly push = (piece: Uint8Array) => {
    this.#output += Buffer.from(piece).toString();
    this.#check();
  };

  /** Resolves with the output up to and including `text`. */
  readonly read = (text: string) =>
    new Promise<string>((resolve) => {
      this.#check = () => {
        const at = this.#output.indexOf(text);
        if (at < 0) return;
        this.#check = () => {};
        resolve(this.#output.slice(0, at + text.length));
        this.#output = this.#output.slice(at + text.length);
      };
      this.#check();
    });
}

const start = async (runtime: NodeRuntime, name: string, args: string[] = []) => {
  const [output, errors] = [new Stream(), new Stream()];
  const options = { timeout: 30_000, onStdout: output.push, onStderr: errors.push };
  const shell: GuestProcess = await runtime.spawnCommand(name, args, options);
  return { shell, output: output.read, errors: errors.read };
};

describe.each(MODES)('$name', (mode) => {
  test('runs each command as its lines arrive, and keeps its state', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { shell, output } = await start(runtime, 'bash');
      await shell.writeStdin('x=1; cd /tmp\necho first\n');
      expect(await output('first\n')).toBe('first\n');
      await shell.writeStdin('for i in 1 2\ndo\n  echo "$i $x $PWD"\n');
      await shell.writeStdin('done; cat <<END\nin a document\n');
      await shell.writeStdin("END\necho 'open\n");
      expect(await output('document\n')).toBe('1 1 /tmp\n2 1 /tmp\nin a document\n');
      await shell.writeStdin("quote'\nexit 4\necho never\n");
      expect(await output('quote\n')).toBe('open\nquote\n');
      expect(await shell.wait()).toBe(4);
    }));

  test('a command inside a script on stdin reads the rest of the input', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { shell, output } = await start(runtime, 'sh');
      await shell.writeStdin('read -r line\n');
      await shell.writeStdin('for read\necho "<$line>"; node -e "process.stdin.pipe(process.stdout)"\n');
      expect(await output('<for read>\n')).toBe('<for read>\n');
      await shell.writeStdin('for node\n');
      expect(await output('for node\n')).toBe('for node\n');
      await shell.closeStdin();
      expect(await shell.wait()).toBe(0);
    }));

  test('read stops at its delimiter, number of characters or time', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { shell, output } = await start(runtime, 'bash', [
        '-c',
        'read -d ";" a; read -n 2 b; read -N 3 c; read -t 0.2 d; echo "$a,$b,$c,$?"; cat',
      ]);
      await shell.writeStdin('one;é2x\ny');
      expect(await output('142\n')).toBe('one,é2,x\ny,142\n');
      await shell.writeStdin('rest');
      await shell.closeStdin();
      expect(await output('rest')).toBe('rest');
      expect(await shell.wait()).toBe(0);
    }));

  test('a trap runs while the shell waits for a line', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { shell, output } = await start(runtime, 'bash');
      await shell.writeStdin("trap 'echo trapped' USR1; trap 'echo ended' EXIT; echo ready\n");
      await output('ready\n');
      await shell.kill('SIGUSR1');
      expect(await output('trapped\n')).toBe('trapped\n');
      await shell.closeStdin();
      expect(await output('ended\n')).toBe('ended\n');
      expect(await shell.wait()).toBe(0);
    }));

  test('an interactive shell on a pipe prints prompts, and continues after a syntax error', () =>
    withRuntime(
      mode,
      { files: { '/home/user/.bashrc': 'PS1="\\u:\\w[\\!]\\$ "; alias hello="echo hello"; PS2="more "' } },
      async (runtime) => {
        const { shell, output, errors } = await start(runtime, 'bash', ['-i']);
        expect(await errors('$ ')).toBe('user:/workspace[1]$ ');
        await shell.writeStdin('hello; case $- in *i*) echo interactive;; esac\n');
        expect(await output('interactive\n')).toBe('hello\ninteractive\n');
        await shell.writeStdin('fi\n');
        expect(await errors("`fi'\n")).toContain('syntax error near unexpected token');
        await shell.writeStdin('cd; set -u; echo $nothing\necho "status $?"; PROMPT_COMMAND="echo before"\n');
        expect(await output('before\n')).toBe('status 1\nbefore\n');
        await errors('user:~[5]$ ');
        await shell.writeStdin('if true; then\n');
        await errors('more ');
        await shell.writeStdin('history 2; fi\n');
        expect(await output('fi\n')).toContain('    5  if true; then\n');
        await shell.closeStdin();
        expect(await shell.wait()).toBe(0);
      },
    ));

  test('a login shell reads the profile', () =>
    withRuntime(
      mode,
      { files: { '/home/user/.profile': 'export FROM=profile\n', '/home/user/.bashrc': 'FROM=rc\n' } },
      async (runtime) => {
        const run = async (...args: string[]) => (await runtime.execCommand('/bin/bash', args)).stdout;
        expect(await run('-c', 'echo "[$FROM]"')).toBe('[]\n');
        expect(await run('-l', '-c', 'echo "[$FROM]"')).toBe('[profile]\n');
        expect(await run('-i', '-l', '-c', 'echo "[$FROM]"')).toBe('[profile]\n');
        expect(await run('-i', '-c', 'echo "[$FROM]"')).toBe('[rc]\n');
        expect(await run('--noprofile', '-l', '-c', 'echo "[$FROM]"')).toBe('[]\n');
      },
    ));

  test('a loop on the right side of a pipe receives its input as it arrives', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { shell, output } = await start(runtime, 'bash', [
        '-c',
        '{ cat; } | while read -r line; do echo "<$line>"; done; echo end',
      ]);
      await shell.writeStdin('one\n');
      expect(await output('>\n')).toBe('<one>\n');
      await shell.writeStdin('two\n');
      expect(await output('>\n')).toBe('<two>\n');
      await shell.closeStdin();
      expect(await output('end\n')).toBe('end\n');
      expect(await shell.wait()).toBe(0);
    }));

  test('a loop without an end on the left side of a pipe ends with its reader', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { stdout } = await runtime.execCommand(
        'bash',
        ['-c', 'while :; do echo y; done | head -n 2; echo ${PIPESTATUS[@]}'],
        {
          timeout: 20_000,
        },
      );
      expect(stdout).toBe('y\ny\n141 0\n');
      expect(await runtime.processes()).toEqual([]);
    }));
});
