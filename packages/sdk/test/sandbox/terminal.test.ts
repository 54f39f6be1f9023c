// Tests terminals in every mode: the line discipline, the size, Node's `tty`, the keyboard's
// signals, and the end.

import { describe, expect, test } from 'vitest';
import { repetitions } from '../repetitions.js';
import { MODES, withRuntime } from './modes.js';
import { node, openScreen } from './terminal-helpers.js';

// Prints each line that the terminal delivers.
const LINES = `
  process.stdin.on('data', (data) => console.log('[' + JSON.stringify(String(data)) + ']'));
  process.stdin.on('end', () => console.log('ended'));
  console.log('ready');
`;

describe.each(MODES)('$name', (mode) => {
  test('echoes and edits lines, and delivers each line at its end', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { terminal, waitFor } = await openScreen(runtime, node(LINES));
      await waitFor('ready\r\n');
      await terminal.write('helo\x7fo\x7flo\r');
      expect(await waitFor(']\r\n')).toBe('helo\b \bo\b \blo\r\n["hello\\n"]\r\n');
      await terminal.write('one two\x17\x15end\r');
      await waitFor('["end\\n"]');
      await terminal.write('\x04');
      await waitFor('ended');
      expect(await terminal.wait()).toBe(0);
      expect(terminal.exitCode).toBe(0);
    }));

  test('is a TTY for Node, with its size, and resizes', () =>
    withRuntime(mode, {}, async (runtime) => {
      const code = `
        const { stdin, stdout, stderr } = process;
        console.log(stdin.isTTY, stdout.isTTY, stderr.isTTY, require('tty').isatty(0));
        console.log([stdout.columns, stdout.rows, process.env.TERM].join());
        stdout.on('resize', () => { console.log('resized', stdout.columns, stdout.rows); process.exit(); });
        setInterval(() => {}, 1000);
      `;
      const { terminal, waitFor } = await openScreen(runtime, { ...node(code), cols: 100, rows: 30, term: 'vt100' });
      await waitFor('true true true true\r\n100,30,vt100\r\n');
      await terminal.resize(120, 40);
      await waitFor('resized 120 40');
      expect(await terminal.wait()).toBe(0);
      await expect(terminal.resize(0, 40)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
      await expect(terminal.resize(10, 10)).rejects.toMatchObject({ code: 'ESRCH' });
    }));

  test('runs as another user, and only a program on a terminal has a size', () =>
    withRuntime(mode, {}, async (runtime) => {
      const code = "console.log(process.getuid(), process.env.HOME); process.stdin.on('data', () => {});";
      const { terminal, waitFor } = await openScreen(runtime, { ...node(code), user: 'root' });
      await waitFor('0 /root\r\n');
      const viewer = await runtime.attach(terminal.pid);
      await viewer.resize(50, 10);
      await expect(viewer.resize(50, 65_536)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option: 'rows' });
      await terminal.dispose();
      const program = await runtime.spawnCommand('cat', []);
      await expect(program.resize(50, 10)).rejects.toMatchObject({ code: 'ENOTTY' });
      await program.kill('SIGKILL');
    }));

  test('Ctrl+C ends the program, and an unread input has its limit', () =>
    withRuntime(mode, { limits: { stdinBytes: 65_536 } }, async (runtime) => {
      const { terminal, waitFor } = await openScreen(runtime, node("console.log('on'); setInterval(() => {}, 1000)"));
      await waitFor('on');
      const line = `${'x'.repeat(99)}\n`;
      const flood = (async () => {
        for (let i = 0; i < 2_000; i++) await terminal.write(line);
      })();
      await expect(flood).rejects.toMatchObject({ code: 'ENOBUFS' });
      const second = await openScreen(runtime, node("console.log('on'); for (;;);"));
      await second.waitFor('on');
      await second.terminal.write('\x03');
      await second.waitFor('^C');
      expect(await second.terminal.wait()).toBe(130);
      await terminal.dispose();
      expect(await terminal.wait()).toBe(137);
    }));
});

const mode = MODES[0] as (typeof MODES)[number];

describe('terminals', () => {
  test('raw mode delivers keys without echo, and its end restores the line mode', () =>
    withRuntime(mode, {}, async (runtime) => {
      const code = `
        process.stdin.setRawMode(true);
        console.log('raw', process.stdin.isRaw);
        process.stdin.once('data', (key) => {
          console.log(JSON.stringify(String(key)));
          process.stdin.setRawMode(false);
          process.stdin.once('data', (line) => { console.log(JSON.stringify(String(line))); process.exit(); });
        });
      `;
      const { terminal, waitFor } = await openScreen(runtime, node(code));
      await waitFor('raw true\r\n');
      await terminal.write('\x03');
      expect(await waitFor('"\r\n')).toBe('"\\u0003"\r\n');
      await terminal.write('ab\x7f\r');
      await waitFor('"a\\n"');
      expect(await terminal.wait()).toBe(0);
    }));

  test("Node's readline and REPL run on a terminal", () =>
    withRuntime(mode, {}, async (runtime) => {
      const code = `
        const rl = require('readline').createInterface({ input: process.stdin, output: process.stdout });
        rl.question('name? ', (name) => { console.log('hello ' + name); rl.close(); });
      `;
      const asked = await openScreen(runtime, node(code));
      await asked.waitFor('name? ');
      await asked.terminal.write('cold\r');
      await asked.waitFor('hello cold\r\n');
      expect(await asked.terminal.wait()).toBe(0);
      const repl = await openScreen(runtime, { command: 'node' });
      await repl.waitFor('> ');
      await repl.terminal.write('6 * 7\r');
      await repl.waitFor('42');
      await repl.terminal.write('.exit\r');
      expect(await repl.terminal.wait()).toBe(0);
    }));

  test('a slow reader stops the writers, and the memory stays bounded', () =>
    withRuntime(mode, {}, async (runtime) => {
      let release = (): void => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      let received = 0;
      const terminal = await runtime.openTerminal({
        ...node("const line = 'x'.repeat(999) + '\\n'; for (let i = 0; i < 5000; i++) require('fs').writeSync(1, line);"),
        onData: async (data) => {
          await held;
          received += data.length;
        },
      });
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(terminal.exitCode).toBeUndefined();
      expect((await runtime.getResourceSnapshot()).bufferedBytes).toBeLessThan(400_000);
      release();
      expect(await terminal.wait()).toBe(0);
      expect(received).toBe(5_000 * 1_001);
    }));

  test('the end of the leader hangs up, and no process of the session stays', () =>
    withRuntime(mode, {}, async (runtime) => {
      const child = "process.on('SIGHUP', () => {}); console.log('child'); setInterval(() => {}, 1000)";
      const code = `require('child_process').spawn('node', ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' })`;
      const { terminal, waitFor } = await openScreen(runtime, node(code));
      await waitFor('child');
      await terminal.dispose();
      expect(await runtime.processes()).toEqual([]);
      expect(await runtime.readDir('/dev/pts')).toEqual([]);
    }));

  test('a guest makes terminals up to the limit, and reads and writes both ends', () =>
    withRuntime(mode, { limits: { terminals: 2 } }, async (runtime) => {
      const { stdout, exitCode, stderr } = await runtime.exec(`
        import fs from 'node:fs';
        import tty from 'node:tty';
        const master = fs.openSync('/dev/ptmx', 'r+');
        const [name] = fs.readdirSync('/dev/pts');
        const slave = fs.openSync('/dev/pts/' + name, 'r+');
        console.log(tty.isatty(master), tty.isatty(slave), fs.fstatSync(slave).isCharacterDevice());
        console.log(fs.readlinkSync('/proc/self/fd/' + slave));
        fs.writeSync(slave, 'out\\n');
        const buffer = Buffer.alloc(100);
        console.log(JSON.stringify(buffer.toString('latin1', 0, fs.readSync(master, buffer))));
        fs.writeSync(master, 'in\\r');
        console.log(JSON.stringify(buffer.toString('latin1', 0, fs.readSync(slave, buffer))));
        fs.openSync('/dev/ptmx', 'r+');
        try { fs.openSync('/dev/ptmx', 'r+'); } catch (error) { console.log(error.code); }
        try { fs.openSync('/dev/tty', 'r+'); } catch (error) { console.log(error.code); }
        fs.closeSync(master);
        console.log(fs.readSync(slave, buffer));
        try { fs.writeSync(slave, 'x'); } catch (error) { console.log(error.code); }
      `);
      expect([stderr, exitCode]).toEqual(['', 0]);
      expect(stdout.split('\n')).toEqual([
        'true true true',
        '/dev/pts/0',
        '"out\\r\\n"',
        '"in\\n"',
        'ENOSPC',
        'ENXIO',
        '0',
        'EIO',
        '',
      ]);
      expect(await runtime.readDir('/dev/pts')).toEqual([]);
    }));

  test('many terminals leave nothing behind', () =>
    withRuntime(mode, { limits: { terminals: 3, processes: 8 } }, async (runtime) => {
      for (let i = 0; i < repetitions(40, 200); i++) {
        const terminal = await runtime.openTerminal({ command: 'node', args: ['-p', '1'] });
        if (i % 2 === 0) await terminal.dispose();
        else await terminal.wait();
      }
      const { limits, bufferedBytes } = await runtime.getResourceSnapshot();
      expect([limits.terminals.used, limits.processes.used, bufferedBytes]).toEqual([0, 0, 0]);
      expect(await runtime.readDir('/dev/pts')).toEqual([]);
    }));

  test('the limit of terminals has an error with its name', () =>
    withRuntime(mode, { limits: { terminals: 1 } }, async (runtime) => {
      const terminal = await runtime.openTerminal(node('setInterval(() => {}, 1000)'));
      await expect(runtime.openTerminal()).rejects.toMatchObject({ code: 'ERR_RESOURCE_EXHAUSTED' });
      await terminal.dispose();
      await expect(runtime.openTerminal({ cols: 0 })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    }));
});
