// Tests with E2B's own client: terminals, users, typed events, and children that outlive their
// command. Also tests pauses of the files alone, and sandboxes that are frozen in memory.

import { Sandbox } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startServer } from './harness.js';

let harness: Harness;
beforeAll(async () => {
  harness = await startServer();
});
afterAll(() => harness.close());

/** The screen of a terminal, which a test reads as the output arrives. */
class Screen {
  text = '';
  #arrived = (): void => {};
  readonly #decoder = new TextDecoder();

  readonly show = (data: Uint8Array): void => {
    this.text += this.#decoder.decode(data, { stream: true });
    this.#arrived();
  };

  /** Resolves when the screen has a text, and clears the screen up to its end. */
  async shows(text: string): Promise<void> {
    while (!this.text.includes(text)) await new Promise<void>((resolve) => (this.#arrived = resolve));
    this.text = this.text.slice(this.text.indexOf(text) + text.length);
  }
}

const typed = (keys: string): Uint8Array => new TextEncoder().encode(keys);

test('opens, resizes, connects to and kills terminals', () =>
  harness.withSandbox(async ({ pty }) => {
    const screen = new Screen();
    const envs = { NAME: 'value' };
    const terminal = await pty.create({ cols: 80, rows: 24, onData: screen.show, envs, cwd: '/tmp', user: 'root', timeoutMs: 0 });
    await pty.sendInput(terminal.pid, typed('echo "[$NAME $PWD $(id -un) $(stty size)]"\r'));
    await screen.shows('[value /tmp root 24 80]');
    await pty.resize(terminal.pid, { cols: 100, rows: 30 });
    await pty.sendInput(terminal.pid, typed('stty size; tty\r'));
    await screen.shows('30 100');
    await screen.shows('/dev/pts/0');
    const other = new Screen();
    const second = await pty.connect(terminal.pid, { onData: other.show });
    await pty.sendInput(terminal.pid, typed('echo $((6 * 7))\r'));
    await Promise.all([screen.shows('42'), other.shows('42')]);
    expect(await pty.kill(terminal.pid)).toBe(true);
    await expect(terminal.wait()).rejects.toMatchObject({ exitCode: -1, error: 'signal: killed' });
    await expect(second.wait()).rejects.toMatchObject({ exitCode: -1 });
    expect(await pty.kill(terminal.pid)).toBe(false);
  }));

test('a terminal reports its exit code, and continues after a pause', () =>
  harness.withSandbox(async (sandbox) => {
    const screen = new Screen();
    const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData: screen.show, timeoutMs: 0 });
    await sandbox.pty.sendInput(terminal.pid, typed('x=kept\r'));
    await screen.shows('x=kept');
    await sandbox.pause();
    const resumed = await Sandbox.connect(sandbox.sandboxId, harness.connection);
    const later = new Screen();
    const connected = await resumed.pty.connect(terminal.pid, { onData: later.show });
    await resumed.pty.sendInput(terminal.pid, typed('echo "<$x>"\r'));
    await later.shows('<kept>');
    await resumed.pty.sendInput(terminal.pid, typed('exit 7\r'));
    await expect(connected.wait()).rejects.toMatchObject({ exitCode: 7 });
  }));

test('input and sizes for a program without a terminal are refused', () =>
  harness.withSandbox(async ({ commands, pty }) => {
    const { pid } = await commands.run('cat', { background: true, stdin: true, timeoutMs: 0 });
    await expect(pty.sendInput(pid, typed('x'))).rejects.toThrow('no pseudo terminal');
    await expect(pty.resize(pid, { cols: 10, rows: 10 })).rejects.toThrow('no pseudo terminal');
    const terminal = await pty.create({ cols: 80, rows: 24, onData: () => {}, timeoutMs: 0 });
    await expect(commands.sendStdin(terminal.pid, 'x')).rejects.toThrow('has a pseudo terminal');
    await expect(pty.resize(terminal.pid, { cols: 0, rows: 10 })).rejects.toThrow('1 to 65535');
  }));

test('commands and files belong to the user of the call', () =>
  harness.withSandbox(async ({ commands, files }) => {
    expect((await commands.run('whoami; id -u; echo $HOME', { user: 'root' })).stdout).toBe('root\n0\n/root\n');
    expect((await commands.run('sudo whoami; whoami')).stdout).toBe('root\nuser\n');
    await files.write('/srv/own/file', 'x', { user: 'root' });
    expect(await files.getInfo('/srv/own/file')).toMatchObject({ owner: 'root', group: 'root' });
    expect(await files.getInfo('/srv/own')).toMatchObject({ owner: 'root' });
    await expect(commands.run('echo y > /srv/own/file')).rejects.toMatchObject({
      exitCode: 1,
      stderr: '/bin/bash: line 1: /srv/own/file: Permission denied\n',
    });
    await files.write('mine', 'x');
    expect(await files.getInfo('mine')).toMatchObject({ owner: 'user', group: 'user' });
    await files.makeDir('/srv/dir', { user: 'root' });
    expect(await files.getInfo('/srv/dir')).toMatchObject({ owner: 'root' });
    await expect(commands.run('true', { user: 'nobody-known' as 'root' })).rejects.toThrow('invalid username');
  }));

test('a process that a command leaves behind continues', () =>
  harness.withSandbox(async ({ commands }) => {
    const code = `require('node:http').createServer((_, reply) => reply.end('still here')).listen(8080)`;
    const { stdout } = await commands.run(`nohup node -e "${code}" > /tmp/log 2>&1 & echo started`);
    expect(stdout).toBe('started\n');
    const ask = `const ask = () => fetch('http://127.0.0.1:8080').then((reply) => reply.text())
      .then(console.log, () => setTimeout(ask, 10)); ask();`;
    expect((await commands.run(`node -e "${ask}"`)).stdout).toBe('still here\n');
  }));

test('reports every kind of change, and renames with both names', () =>
  harness.withSandbox(async ({ files, commands }) => {
    const seen: string[] = [];
    let arrived = (): void => {};
    const handle = await files.watchDir(
      '.',
      ({ type, name }) => {
        seen.push(`${type} ${name}`);
        arrived();
      },
      { recursive: true },
    );
    await commands.run('mkdir a && echo 1 > a/one && mv a/one a/two && chmod 600 a/two && rm a/two && echo 1 > end');
    while (!seen.includes('write end')) await new Promise<void>((resolve) => (arrived = resolve));
    await handle.stop();
    expect(seen.filter((event, at) => seen.indexOf(event) === at)).toEqual([
      'create a',
      'create a/one',
      'write a/one',
      'rename a/one',
      'create a/two',
      'chmod a/two',
      'remove a/two',
      'create end',
      'write end',
    ]);
  }));

test('a pause without memory keeps the files and starts no program', () =>
  harness.withSandbox(async (sandbox) => {
    const bootOf = async ({ commands }: Sandbox) => (await commands.run('cat /proc/sys/kernel/random/boot_id')).stdout;
    await sandbox.files.write('kept', 'content');
    await sandbox.commands.run('while :; do :; done', { background: true, timeoutMs: 0 });
    const boot = await bootOf(sandbox);
    await sandbox.pause({ keepMemory: false });
    await harness.restart();
    const resumed = await Sandbox.connect(sandbox.sandboxId, harness.connection);
    expect(await resumed.files.read('kept')).toBe('content');
    expect(await resumed.commands.list()).toEqual([]);
    expect(await bootOf(resumed)).not.toBe(boot);
  }));

test('a sandbox whose program never rests is frozen, and continues', () =>
  harness.withSandbox(async (sandbox) => {
    const count = `let n = 0; for (;;) { if (++n % 1e5 === 0) require('node:fs').writeFileSync('/tmp/count', String(n)); }`;
    const { pid } = await sandbox.commands.run(`node -e "${count}"`, { background: true, timeoutMs: 0 });
    const counted = async (): Promise<number> => Number(await sandbox.files.read('/tmp/count').catch(() => '0'));
    await expect.poll(counted).toBeGreaterThan(0);
    await sandbox.pause();
    expect((await sandbox.getInfo()).state).toBe('paused');
    const resumed = await Sandbox.connect(sandbox.sandboxId, harness.connection);
    const before = Number(await resumed.files.read('/tmp/count'));
    await expect.poll(counted).toBeGreaterThan(before);
    expect((await resumed.commands.list()).map((entry) => entry.pid)).toEqual([pid]);
    const { body } = await harness.call('GET', `/events/sandboxes/${sandbox.sandboxId}`);
    expect(JSON.stringify(body)).toContain('"frozen":true');
    await resumed.pause();
    await harness.restart();
    await expect(Sandbox.connect(sandbox.sandboxId, harness.connection)).rejects.toThrow('not found');
  }));

test('a watch beyond the limit of the sandbox is refused', () =>
  harness.withSandbox(async ({ sandboxId }) => {
    const { envdAccessToken } = (await harness.call('GET', `/sandboxes/${sandboxId}`)).body;
    const headers = { 'e2b-sandbox-id': sandboxId, 'e2b-sandbox-port': '49983', 'x-access-token': envdAccessToken };
    const watch = () => harness.call('POST', '/filesystem.Filesystem/CreateWatcher', { path: '/home/user' }, headers);
    let reply = await watch();
    for (let count = 1; reply.status === 200 && count < 2_000; count++) reply = await watch();
    expect([reply.status, reply.body.code]).toEqual([429, 'resource_exhausted']);
    expect((await harness.call('POST', '/filesystem.Filesystem/Stat', { path: '/home/user' }, headers)).status).toBe(200);
  }));
