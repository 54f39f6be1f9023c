// Tests the statements of docs/shell-commands.md: the table, the environment, input that does not
// end, and processes in the background. Also tests the options of `node` that are refused. The
// fixture `shell-commands`, recorded from real commands, tests what the commands print.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { NodeRuntime, NodeRuntimeOptions } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

const [, SHARED] = MODES as [unknown, (typeof MODES)[number]];
const DOCUMENT = new URL('../../../../docs/shell-commands.md', import.meta.url);
const LOGIN = {
  HOME: '/home/user',
  LOGNAME: 'user',
  PATH: '/usr/local/bin:/usr/bin:/bin',
  SHELL: '/bin/sh',
  TMPDIR: '/tmp',
  USER: 'user',
};
const PRINT_ENV = 'console.log(JSON.stringify(process.env))';

const withShared = (options: NodeRuntimeOptions, work: (runtime: NodeRuntime) => Promise<void>) =>
  withRuntime(SHARED, options, work);

const sh = async (runtime: NodeRuntime, script: string) => {
  const { exitCode, stdout, stderr } = await runtime.execCommand('sh', ['-c', script]);
  return { exitCode, stdout, stderr };
};

/** Returns a function that waits until the output of a command contains a text. */
function reader(output: AsyncIterable<Uint8Array>) {
  const pieces = output[Symbol.asyncIterator]();
  let seen = '';
  return async (text: string) => {
    while (!seen.includes(text)) {
      const { done, value } = await pieces.next();
      if (done) throw new Error(`the output ended before ${JSON.stringify(text)}: ${JSON.stringify(seen)}`);
      seen += Buffer.from(value).toString();
    }
    return seen;
  };
}

function documented() {
  const rows = readFileSync(DOCUMENT, 'utf8').matchAll(/^\| `([^`]+)` \| (there|partial|absent) \|/gm);
  return Array.from(rows, ([, name, state]) => ({ name: name as string, isThere: state !== 'absent' }));
}

test('finds each command that the table names, and no absent command', () =>
  withShared({}, async (runtime) => {
    const commands = documented();
    expect(commands.length).toBeGreaterThanOrEqual(120);
    const names = commands.map(({ name }) => name).join(' ');
    const { stdout } = await sh(runtime, `for name in ${names}; do command -v $name > found.txt && echo $name; done`);
    const there = commands.filter(({ isThere }) => isThere).map(({ name }) => name);
    expect(stdout.split('\n').filter(Boolean)).toEqual(there);
  }));

test('a program has the environment of a login, which env of the runtime and of a call replace', () =>
  withShared({ env: { HOME: '/workspace', A: '1', B: '1' } }, async (runtime) => {
    const printed = async (env = {}) => JSON.parse((await runtime.exec(PRINT_ENV, { env })).stdout);
    expect(await printed()).toEqual({ ...LOGIN, HOME: '/workspace', A: '1', B: '1' });
    expect(await printed({ B: '2', USER: 'other' })).toEqual({ ...LOGIN, HOME: '/workspace', A: '1', B: '2', USER: 'other' });
    const { stdout } = await sh(runtime, 'echo $HOME ~ $USER $TMPDIR; node -p "os.homedir() + os.tmpdir()"; cd && pwd');
    expect(stdout).toBe('/workspace /workspace user /tmp\n/workspace/tmp\n/workspace\n');
  }));

test('a program starts with an empty environment through env -i and through the env of spawn', () =>
  withShared({}, async (runtime) => {
    const script = `
      const { spawnSync } = require('node:child_process');
      process.stdout.write(spawnSync('env', ['-i', 'node', '-e', ${JSON.stringify(PRINT_ENV)}]).stdout);
      process.stdout.write(spawnSync(process.execPath, ['-e', ${JSON.stringify(PRINT_ENV)}], { env: {} }).stdout);`;
    await runtime.writeFile('/workspace/empty.cjs', script);
    const { stdout, stderr } = await runtime.execCommand('node', ['empty.cjs']);
    expect([stdout, stderr]).toEqual(['{}\n{}\n', '']);
  }));

test.each(['/root', '/tmp'])('programs in %s read the files of the app and find packages', (folder) => {
  const files = {
    [`${folder}/data.txt`]: 'seeded',
    [`${folder}/node_modules/one/index.js`]: 'module.exports = "required";',
    [`${folder}/node_modules/two/package.json`]: '{ "type": "module", "exports": "./main.js" }',
    [`${folder}/node_modules/two/main.js`]: 'export default "imported";',
    [`${folder}/main.cjs`]: 'console.log(require("one"), require("fs").readFileSync(__dirname + "/data.txt", "utf8"))',
    [`${folder}/main.mjs`]: 'import one from "one"; import two from "two"; console.log(one, two);',
  };
  return withShared({ files }, async (runtime) => {
    const run = async (...args: string[]) => (await runtime.execCommand('node', args)).stdout;
    expect(await run(`${folder}/main.cjs`)).toBe('required seeded\n');
    expect(await run(`${folder}/main.mjs`)).toBe('required imported\n');
    const { stdout } = await runtime.exec('import one from "one"; import two from "two"; console.log(one, two)', { cwd: folder });
    expect(stdout).toBe('required imported\n');
  });
});

test('writes the output of cat, tee, grep, sed and head while the input continues', () =>
  withShared({}, async (runtime) => {
    for (const command of [
      'cat',
      'tee copy.txt',
      'grep line',
      "sed 's/^/-/'",
      'tr a-z A-Z',
      'cat | grep -v none | tee copy.txt',
    ]) {
      const live = await runtime.spawnCommand('sh', ['-c', command]);
      const until = reader(live.stdout);
      await live.writeStdin('line 1\n');
      expect((await until('1\n')).toLowerCase()).toContain('line 1');
      await live.writeStdin('line 2\n');
      expect((await until('2\n')).toLowerCase()).toContain('line 2');
      await live.closeStdin();
      expect(await live.wait()).toBe(0);
    }
    const first = await runtime.spawnCommand('sh', ['-c', 'head -1']);
    await first.writeStdin('one\ntwo\n');
    expect(await first.wait()).toBe(0);
  }));

test('passes the lines of a program that runs on through commands of the shell', () =>
  withShared({}, async (runtime) => {
    const code = 'let n = 0; process.stdin.on("data", () => console.log(`tick ${++n}`));';
    await runtime.writeFile('/workspace/ticks.cjs', code);
    const live = await runtime.spawnCommand('sh', ['-c', 'node ticks.cjs | cat | tee log.txt']);
    const until = reader(live.stdout);
    await live.writeStdin('x');
    await until('tick 1\n');
    expect(Buffer.from(await runtime.readFile('/workspace/log.txt')).toString()).toBe('tick 1\n');
    await live.writeStdin('x');
    await until('tick 2\n');
    await live.closeStdin();
    expect(await live.wait()).toBe(0);
  }));

test('tail -f follows a file in a pipeline, and tail -F follows the name', () =>
  withShared({ files: { '/workspace/log': 'first x\nsecond\n' } }, async (runtime) => {
    const live = await runtime.spawnCommand('sh', ['-c', 'tail -f log | grep x']);
    const until = reader(live.stdout);
    await until('first x\n');
    await sh(runtime, 'echo none >> log; echo third x >> log');
    expect(await until('third x\n')).toBe('first x\nthird x\n');
    await live.kill();

    const named = await runtime.spawnCommand('tail', ['-n', '1', '-F', 'log']);
    const next = reader(named.stdout);
    await next('third x\n');
    await sh(runtime, 'mv log log.1; echo rotated > log');
    await next('rotated\n');
    await named.kill();
  }));

test('a command of nohup and setsid continues after its line, and a plain background command ends', () =>
  withShared({}, async (runtime) => {
    await runtime.writeFile(
      '/workspace/server.cjs',
      'require("http").createServer((q, r) => r.end("up")).listen(+process.argv[2])',
    );
    await sh(runtime, 'node server.cjs 3001 &');
    for (const [port, launcher] of [
      [3002, 'nohup'],
      [3003, 'setsid'],
    ] as const) {
      expect((await sh(runtime, `${launcher} node server.cjs ${port} > server.log 2>&1 &`)).exitCode).toBe(0);
      await runtime.waitForListener({ port });
      expect((await sh(runtime, `curl -s localhost:${port}`)).stdout).toBe('up');
    }
    expect(await runtime.findListener({ port: 3001 })).toBeUndefined();
    expect((await sh(runtime, 'pgrep -fc server.cjs; pkill -f server.cjs; ps aux | grep -c "[s]erver.cjs 3001"')).stdout).toBe(
      '2\n0\n',
    );
  }));

test('starts a server and uses the server in one line', () =>
  withShared({}, async (runtime) => {
    await runtime.writeFile('/workspace/server.cjs', 'require("http").createServer((q, r) => r.end("hello\\n")).listen(3000)');
    const line = 'node server.cjs & sleep 0; curl -s --retry 20 --retry-connrefused --retry-delay 0 localhost:3000';
    expect(await sh(runtime, line)).toEqual({ exitCode: 0, stdout: 'hello\n', stderr: '' });
  }));

test('curl writes a stream of a server as the stream arrives', () =>
  withShared({}, async (runtime) => {
    const code = 'require("http").createServer((q, r) => { r.write("data: 1\\n"); }).listen(3000, () => console.log("up"))';
    await runtime.writeFile('/workspace/server.cjs', code);
    await runtime.spawnCommand('node', ['server.cjs']);
    await runtime.waitForListener({ port: 3000 });
    const live = await runtime.spawnCommand('sh', ['-c', 'curl -sN localhost:3000 | grep data']);
    await reader(live.stdout)('data: 1\n');
    await live.kill();
  }));

test('curl fails on another machine with the words of the denial', () =>
  withShared({}, async (runtime) => {
    const program = 'require("net").connect(80, "192.0.2.1").on("error", (error) => console.log(error.message))';
    const { stdout } = await runtime.execCommand('node', ['-e', program]);
    const denied = await sh(runtime, 'curl -sS http://192.0.2.1/');
    expect(stdout.trim()).not.toBe('');
    expect([denied.exitCode, denied.stderr]).toEqual([7, expect.stringContaining(stdout.trim())]);
  }));

test('node refuses options that the sandbox does not support, with the exit code 9', () =>
  withShared({}, async (runtime) => {
    await runtime.writeFile('/workspace/app.cjs', 'console.log("ran")');
    for (const option of ['--watch', '--watch-path=.', '--inspect', '--inspect-brk=9229', '--cpu-prof', '--permission']) {
      const { exitCode, stdout, stderr } = await runtime.execCommand('node', [option, 'app.cjs']);
      const name = option.split('=')[0];
      expect([exitCode, stdout]).toEqual([9, '']);
      expect(stderr).toMatch(new RegExp(`^node: ${name} is not supported in the sandbox: .+\n$`));
    }
    const env = { NODE_OPTIONS: '--inspect' };
    expect((await runtime.execCommand('node', ['app.cjs'], { env })).exitCode).toBe(9);
    expect((await runtime.exec('console.log(1)', { execArgv: ['--watch'] })).exitCode).toBe(9);
  }));
