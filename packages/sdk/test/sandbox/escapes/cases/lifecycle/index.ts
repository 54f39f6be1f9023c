// Looks for state that leaks between evaluations, runners, programs and runtimes, through globals,
// output, timers, shared memory, channels and clocks.

import type { EscapeCase, Theme } from '../../harness/case.js';

/** Runs snippets one after the other in a runner, and returns their output. */
const evaluations = (name: string, snippets: string[], expected: string | RegExp): EscapeCase => ({
  name: `lifecycle: ${name}`,
  attack: async (runtime) => {
    const runner = await runtime.createResidentRunner();
    const texts = [];
    for (const code of snippets) {
      const { stdout, error } = await runner.exec(code, { timeout: 5_000 });
      texts.push(stdout.trim() + (error?.code ?? ''));
    }
    return texts.join('|');
  },
  expected,
});

export const lifecycle: Theme = {
  name: 'lifecycle',
  cases: [
    {
      name: 'lifecycle: variables and the directory of one evaluation are not those of the next',
      attack: async (runtime) => {
        const runner = await runtime.createResidentRunner({ env: { OWN: '1' } });
        await runner.exec(`process.env.LEFT = 'x'; process.chdir('/tmp');`, { env: { SECRET: 'one' }, cwd: '/etc' });
        const { stdout } = await runner.exec(`console.log(process.env.SECRET, process.cwd(), process.env.OWN)`);
        return stdout.trim();
      },
      expected: 'undefined /workspace 1',
    },
    evaluations(
      'a value is returned by its own evaluation only',
      [`globalThis.kept = __return; 1`, `try { kept(5); } catch (error) { console.log(error.name) } console.log('next')`],
      '|TypeError\nnext',
    ),
    evaluations(
      'a replaced console does not forge the output of the sandbox',
      [
        `const real = console.log; console.log = () => real('forged'); process.stdout.write = () => true;
globalThis.real = real;`,
        `console.log('second')`,
        `import fs from 'node:fs'; fs.writeSync(1, 'raw')`,
      ],
      '||raw',
    ),
    evaluations(
      'a loop that the timeout ends leaves the runner or ends it',
      [`globalThis.n = 1;`, `setTimeout(() => { for (;;); }, 0); await new Promise(() => {});`, `console.log(typeof n)`],
      '|ERR_TIMEOUT|number',
    ),
    {
      name: 'lifecycle: poisoned globals of a runner reach no other runner and no program',
      attack: async (runtime) => {
        const [one, two] = [await runtime.createResidentRunner(), await runtime.createResidentRunner()];
        await one.exec(
          `Object.prototype.polluted = 1; Array.prototype.push = () => 7; globalThis.fetch = null; process.exit = null;
JSON.stringify = () => '{}';`,
        );
        const code = `console.log({}.polluted, [].push(1), typeof fetch, typeof process.exit, JSON.stringify([1]))`;
        return [await two.exec(code), await runtime.exec(code)].map(({ stdout }) => stdout.trim()).join('|');
      },
      expected: 'undefined 1 function function [1]|undefined 1 function function [1]',
    },
    {
      name: 'lifecycle: shared memory, channels and events of two programs are separate',
      attack: async (runtime) => {
        const sender = await runtime.spawn(`
globalThis.shared = new SharedArrayBuffer(1 << 16); new Int32Array(shared).fill(7);
const channel = new BroadcastChannel('c'); channel.unref?.(); setInterval(() => channel.postMessage('secret'), 5);
process.emit('message', 'x'); console.log('ready');`);
        for await (const _first of sender.stdout) break;
        const { stdout } = await runtime.exec(`
const channel = new BroadcastChannel('c'); let seen = 0; channel.onmessage = () => seen++; channel.unref?.();
const memory = new Int32Array(new SharedArrayBuffer(1 << 16));
await new Promise((resolve) => setTimeout(resolve, 60));
console.log(seen, memory.every((value) => value === 0), Atomics.wait(memory, 0, 0, 1));
process.exit();`);
        await sender.kill('SIGKILL');
        return stdout.trim();
      },
      expected: '0 true timed-out',
    },
    {
      name: 'lifecycle: a waiting thread is not woken by another runtime',
      attack: async (runtime, _folders, place) => {
        const other = await place.create();
        const waiter = runtime.exec(`console.log(Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0, 200))`);
        await other.exec(
          `const memory = new Int32Array(new SharedArrayBuffer(8)); for (let n = 0; n < 1000; n++) Atomics.notify(memory, 0);`,
        );
        return (await waiter).stdout.trim();
      },
      expected: 'timed-out',
    },
    {
      name: 'lifecycle: two runtimes use one port, one path and one name without meeting',
      attack: async (runtime, _folders, place) => {
        const other = await place.create();
        const code = (text: string): string => `import net from 'node:net';
for (const at of [4000, '/tmp/s', '\\0name'])
  await new Promise((resolve) => net.createServer((socket) => socket.end('${text}')).listen(at, resolve));
const ask = (at) => new Promise((resolve) => { let all = ''; net.connect(at).on('data', (data) => { all += data;
}).on('end', () => resolve(all)); });
console.log([await ask(4000), await ask('/tmp/s'), await ask('\\0name')].join()); process.exit();`;
        const [one, two] = await Promise.all([runtime.exec(code('one')), other.exec(code('two'))]);
        return `${one.stdout.trim()} ${two.stdout.trim()}`;
      },
      expected: 'one,one,one two,two,two',
    },
    {
      name: 'lifecycle: clocks of two runtimes have their own origin, and no clock goes back',
      attack: async (runtime, _folders, place) => {
        const other = await place.create();
        const code = `let last = process.hrtime.bigint(); let back = 0;
for (let n = 0; n < 20000; n++) { const now = process.hrtime.bigint(); if (now < last) back++; last = now; }
Date.now = () => 0; performance.now = () => 0;
console.log(back, performance.timeOrigin);`;
        // Programs that start at once may start in the same microsecond.
        const [one, two] = [await runtime.exec(code), await other.exec(code)];
        const [a, b] = [one.stdout.trim().split(' '), two.stdout.trim().split(' ')];
        return `${a[0]} ${b[0]} ${a[1] !== b[1]}`;
      },
      expected: '0 0 true',
    },
    {
      name: 'lifecycle: timers of every delay neither overflow nor outlive their program',
      program: `
let fired = 0;
for (const delay of [2 ** 31, 2 ** 53, Infinity, -1, NaN, '5', {}, 1e-9]) { const timer = setTimeout(() => fired++, delay);
timer.unref(); clearTimeout(timer); }
const timers = Array.from({ length: 5000 }, () => setTimeout(() => fired++, 1e9).unref());
timers.forEach(clearTimeout);
await new Promise((resolve) => setTimeout(resolve, 5));
say(fired, tried(() => setTimeout('code', 1)), tried(() => clearTimeout({ _onTimeout: 1, _idleNext: {} })));`,
      execOptions: { execArgv: ['--no-warnings'] },
      expected: '0 ERR_INVALID_ARG_TYPE done',
    },
    {
      name: 'lifecycle: calls of a disposed runtime fail, and its handles reach no later runtime',
      attack: async (runtime, _folders, place) => {
        const runner = await runtime.createResidentRunner();
        const child = await runtime.spawn(`setInterval(() => {}, 1000)`);
        await runtime.dispose();
        const next = await place.create();
        const kept = await next.spawn(`setInterval(() => {}, 1000)`);
        const codes = await Promise.all(
          [
            () => runner.exec('1'),
            () => child.kill(),
            () => child.writeStdin('x'),
            () => runtime.exec('1'),
            () => runtime.readFile('/etc/passwd'),
          ].map((call) =>
            Promise.resolve()
              .then<unknown>(call)
              .then(String, (error) => error.code),
          ),
        );
        const alive = (await next.processes()).some(({ pid }) => pid === kept.pid);
        return `${codes.join()} ${alive}`;
      },
      expected:
        /^(ERR_RUNNER_EXITED|ERR_SIDECAR_DISPOSED),(false|ERR_[A-Z_]+),(EPIPE|ERR_[A-Z_]+),ERR_RUNTIME_DISPOSED,ERR_RUNTIME_DISPOSED true$/,
    },
    {
      name: 'lifecycle: pid numbers of an ended program do not signal its successor in another runtime',
      attack: async (runtime, _folders, place) => {
        const other = await place.create();
        const kept = await other.spawn(`setInterval(() => {}, 1000)`);
        await runtime.exec(
          `for (let pid = 1; pid < 500; pid++) if (pid !== process.pid) try { process.kill(pid, 'SIGKILL'); } catch {}`,
        );
        return String((await other.processes()).some(({ pid }) => pid === kept.pid));
      },
      expected: 'true',
    },
  ],
};
