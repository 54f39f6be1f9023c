// Tests the interactive shell on a terminal: prompts, editing, history, completion and job control.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NodeRuntime, type Terminal } from '../../src/index.js';

const PROMPT = 'at> ';
// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences begin with ESC
const CONTROL_SEQUENCE = /\x1b\[[\d;]*[A-Za-z]/g;
const FILES = {
  '/home/user/.bashrc': `PS1='${PROMPT}'\n`,
  '/workspace/long-name.txt': 'the text\n',
  '/workspace/numbers.txt': `${Array.from({ length: 200 }, (_, index) => `line ${index + 1}`).join('\n')}\n`,
};

/** A user at a terminal. */
class User {
  #screen = '';
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #decoder = new TextDecoder();

  readonly terminal: Terminal;

  constructor(terminal: Terminal) {
    this.terminal = terminal;
    this.#pieces = terminal.output[Symbol.asyncIterator]();
  }

  /** Types keys. */
  type(keys: string) {
    return this.terminal.write(keys);
  }

  /** Resolves with the output up to and including `text`. */
  async sees(text: string): Promise<string> {
    while (!this.#screen.includes(text)) {
      const piece = await this.#pieces.next();
      if (piece.done === true) throw new Error(`no ${JSON.stringify(text)} in ${JSON.stringify(this.#screen)}`);
      this.#screen += this.#decoder.decode(piece.value, { stream: true });
    }
    const end = this.#screen.indexOf(text) + text.length;
    const seen = this.#screen.slice(0, end);
    this.#screen = this.#screen.slice(end);
    return seen;
  }

  /** Types a line, and resolves with the output of its commands. */
  async runs(line: string): Promise<string> {
    await this.type(`${line}\r`);
    await this.sees('\r\n');
    const output = await this.sees(PROMPT);
    return output.slice(0, -PROMPT.length).replace(CONTROL_SEQUENCE, '').replaceAll('\r\n', '\n').replace(/\r/g, '');
  }
}

describe('a shell on a terminal', () => {
  let runtime: NodeRuntime;
  const open = async (env: Record<string, string> = {}) => {
    const user = new User(await runtime.openTerminal({ command: 'bash', args: [], cols: 90, rows: 20, env, timeout: 60_000 }));
    await user.sees(PROMPT);
    return user;
  };
  beforeAll(async () => {
    runtime = await NodeRuntime.create({ files: FILES });
  });
  afterAll(() => runtime.dispose());

  test('runs lines, and keeps its state', async () => {
    const user = await open();
    expect(await user.runs('cd /tmp; x=5')).toBe('');
    expect(await user.runs('echo "$PWD $((x + 1))"; tty; stty size; tput cols; echo $COLUMNS')).toBe(
      '/tmp 6\n/dev/pts/0\n20 90\n90\n90\n',
    );
    expect(await user.runs('node -p "process.stdout.isTTY + process.stdout.columns"')).toBe('91\n');
    await user.terminal.resize(40, 10);
    expect(await user.runs('stty size; tput lines')).toBe('10 40\n10\n');
    expect(await user.runs('fi; echo never')).toContain('syntax error near unexpected token');
    await user.type('exit 7\r');
    await user.sees('exit\r\n');
    expect(await user.terminal.wait()).toBe(7);
  });

  test('edits the line', async () => {
    const user = await open();
    expect(await user.runs('echo wrong words\x17\x17right')).toContain('right\n');
    expect(await user.runs('never\x15echo all\x01\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x0bmore')).toContain('more\n');
    expect(await user.runs('chE\x7f\x01e\x05o late')).toContain('late\n');
    await user.terminal.dispose();
  });

  test('finds lines of the history', async () => {
    const user = await open({ HISTFILE: '/tmp/history' });
    await user.runs('echo $((6 * 7))');
    await user.runs('echo other');
    expect(await user.runs('\x1b[A\x1b[A')).toContain('42\n');
    expect(await user.runs('\x12$((6')).toContain('42\n');
    expect(await user.runs('!echo o')).toContain('42 o\n');
    expect(await user.runs('echo a b; : !!:$')).toContain('a b\n');
    expect(await user.runs('!nothing')).toContain('!nothing: event not found');
    expect(await user.runs('history 2')).toMatch(/ {2}echo a b; : .*\n +\d+ {2}history 2\n$/);
    await user.type('\x04');
    await user.sees('exit\r\n');
    expect(await user.terminal.wait()).toBe(0);
    expect(Buffer.from(await runtime.readFile('/tmp/history')).toString()).toContain('echo $((6 * 7))\necho other\n');
    const next = await open({ HISTFILE: '/tmp/history' });
    expect(await next.runs('\x1b[A')).toContain('history 2\n');
    await next.terminal.dispose();
  });

  test('completes commands, variables and paths', async () => {
    const user = await open();
    expect(await user.runs('cat lon\t')).toContain('the text\n');
    expect(await user.runs('cat ~/../../worksp\tlong\t')).toContain('the text\n');
    await user.runs('my_variable=found; my_function() { echo ran; }');
    expect(await user.runs('echo $my_v\t')).toContain('found\n');
    expect(await user.runs('my_fun\t')).toContain('ran\n');
    expect(await user.runs('basen\t/a/b')).toContain('b\n');
    await user.terminal.dispose();
  });

  test('^C drops a line, ends a job and a loop of the shell, and ^D ends the shell', async () => {
    const user = await open();
    await user.type('never run\x03');
    await user.sees('^C');
    await user.sees(PROMPT);
    expect(await user.runs('echo $?')).toBe('130\n');
    for (const line of [
      'sleep 100; echo never',
      'while :; do :; done',
      'node -e "setInterval(() => {}, 1e6)"',
      'read x',
      'cat',
      'wait',
    ]) {
      await user.type(line === 'wait' ? 'sleep 50 & wait\r' : `${line}\r`);
      await user.sees('\r\n');
      await new Promise((resolve) => setTimeout(resolve, 300));
      await user.type('\x03');
      await user.sees(PROMPT);
      expect([line, await user.runs('echo $?')]).toEqual([line, '130\n']);
    }
    await user.type('\x04');
    await user.sees('exit\r\n');
    expect(await user.terminal.wait()).toBe(0);
  });

  test('stops jobs with ^Z, and continues the jobs with fg and bg', async () => {
    const user = await open();
    await user.type('sleep 100\r');
    await user.sees('\r\n');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await user.type('\x1a');
    expect(await user.sees(PROMPT)).toContain('[1]+  Stopped                 sleep 100');
    expect(await user.runs('echo $?')).toBe('148\n');
    expect(await user.runs('bg; jobs')).toBe('[1]+ sleep 100 &\n[1]+  Running                 sleep 100 &\n');
    expect(await user.runs('cat | cat & jobs -l | wc -l')).toMatch(/^\[2\] \d+\n\d\n$/);
    await user.type('fg %1\r');
    await user.sees('sleep 100\r\n');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await user.type('\x03');
    await user.sees(PROMPT);
    expect(await user.runs('kill -9 %2; wait %2; echo $?')).toContain('137\n');
    expect(await user.runs('sleep 0.1 & wait; true')).toContain('[1] ');
    await user.type('exit\r');
    await user.sees('\r\nexit\r\n');
    expect(await user.terminal.wait()).toBe(0);
  });

  test('a job reads the terminal with its attributes, and a secret is not shown', async () => {
    const user = await open();
    await user.type('read -s -p "secret: " secret; echo; echo "<$secret>"\r');
    await user.sees('\r\nsecret: ');
    await user.type('hidden\r');
    expect((await user.sees(PROMPT)).replace(CONTROL_SEQUENCE, '')).toBe(`\r\n<hidden>\r\n${PROMPT}`);
    await user.type('cat\r');
    await user.sees('\r\n');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await user.type('for cat\r\x04');
    expect(await user.sees(PROMPT)).toContain('for cat\r\nfor cat\r\n');
    expect(await user.runs('stty -echo; stty -a | grep -c -- -echo; stty echo')).toBe('1\n');
    await user.terminal.dispose();
  });

  test('less shows pages', async () => {
    const user = await open();
    await user.type('less numbers.txt\r');
    await user.sees('line 19');
    await user.type(' ');
    await user.sees('line 38');
    await user.type('/line 150\r');
    await user.sees('line 150');
    await user.type('q');
    await user.sees(PROMPT);
    expect(await user.runs('echo back')).toContain('back\n');
    await user.terminal.dispose();
  });
});
