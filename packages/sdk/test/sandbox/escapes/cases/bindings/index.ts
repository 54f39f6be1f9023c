// Attacks bindings. Inputs from programs must never run as code, and programs must reach only
// registered bindings.

import type { NodeRuntimeOptions } from '../../../../../src/index.js';
import type { EscapeCase, Theme } from '../../harness/case.js';

const seen: unknown[] = [];

const BINDINGS: NodeRuntimeOptions = {
  bindings: {
    echo2: { description: 'returns its input', inputSchema: {}, handler: (input) => input },
    strict: {
      description: 'takes a number',
      inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false },
      handler: (input) => {
        seen.push(input);
        return 'ran';
      },
    },
    fails: {
      description: 'throws facts of the host machine',
      inputSchema: {},
      handler: () => {
        throw Object.assign(new Error(`at ${process.cwd()}/x.js`), {
          path: process.cwd(),
          stack: `Error\n    at ${process.cwd()}`,
        });
      },
    },
    slow: {
      description: 'waits for the abort',
      inputSchema: {},
      maxConcurrency: 4,
      handler: (_input, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(null))),
    },
  },
};

const attempt = (name: string, program: string, expected: EscapeCase['expected'], after?: EscapeCase['after']): EscapeCase => ({
  name,
  options: BINDINGS,
  program,
  expected,
  ...(after && { after }),
});

export const bindings: Theme = {
  name: 'bindings',
  cases: [
    attempt(
      'unregistered names and inherited names of objects are not found',
      `
const names = [
  'constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf', 'exec', 'eval', 'require', 'process', '../echo2',
  'echo2\\0', 'ECHO2', '', 'x'.repeat(1 << 16), 'filesystem', 'net'
];
const others = [null, undefined, 1, {}, ['echo2', 'x'], { toString: () => 'constructor' }, Symbol('x')];
say(distinct(await Promise.all([...names, ...others].map((name) => later(() => callBinding(name, {}))))));`,
      /^(?!.*(done|object|function))[A-Za-z_ ]+$/,
    ),
    attempt(
      'inputs do not poison objects of the app',
      `
const inputs = [
  JSON.parse('{"__proto__":{"polluted":1}}'), { constructor: { prototype: { polluted: 1 } } },
  { toString: 1, then: 1, toJSON: 'x' }, [['__proto__', { polluted: 1 }]]
];
const answers = await Promise.all(inputs.map((input) => later(() => callBinding('echo2', input).then(() => 'ran'))));
say(distinct(answers));`,
      /^(ERR_BINDING_[A-Z]+ ran|ran|ERR_BINDING_[A-Z]+)$/,
      () => (({}) as { polluted?: unknown }).polluted === undefined ? undefined : "the app's objects are poisoned",
    ),
    attempt(
      'inputs that break the schema do not reach the handler',
      `
const inputs = [
  {}, { n: '1' }, { n: 1, m: 2 }, [], null, 'x', { n: null }, { n: 1n }, { N: 1 }, { n: { valueOf: () => 1 } },
  new Proxy({}, { get: () => '1' })
];
say(distinct(await Promise.all(inputs.map((input) => later(() => callBinding('strict', input))))));`,
      /^(?!.*ran)[A-Za-z_ ]+$/,
      () => (seen.length === 0 ? undefined : `the handler got ${JSON.stringify(seen)}`),
    ),
    attempt(
      'inputs that are not JSON are refused',
      `
const circle = {};
circle.self = circle;
const deep = [];
let at = deep;
for (let i = 0; i < 100_000; i++) { at[0] = []; at = at[0]; }
const inputs = [
  circle, deep, { get x() { throw new Error('x'); } }, () => {}, Symbol('x'), 1n, NaN, new Date(NaN), Buffer.alloc(8),
  new Map([[1, 2]]), '\\ud800'
];
const answers = await Promise.all(inputs.map((input) => later(() => callBinding('echo2', input).then(() => 'ran'))));
say(answers.length);`,
      '11',
    ),
    attempt(
      'inputs beyond all limits are refused',
      `
say(distinct(await Promise.all([1 << 21, 17 << 20, 40 << 20].map((length) => later(() =>
  callBinding('echo2', 'x'.repeat(length)).then(() => 'ran'))))));`,
      /^(?!.*ran)[A-Za-z_ ]+$/,
    ),
    attempt(
      'thousands of abandoned calls are contained',
      `
let refused = 0;
for (let i = 0; i < 5_000; i++) {
  const controller = new AbortController();
  callBinding('slow', { i }, { signal: controller.signal }).catch(() => refused++);
  if (i % 2) controller.abort();
}
await new Promise((resolve) => setTimeout(resolve, 50));
say(refused > 1_000);
process.exit();`,
      'true',
    ),
    attempt(
      'an error of a handler contains no fact of the app',
      `
try { await callBinding('fails', {}); } catch (error) {
  console.log(require('util').inspect(error, { showHidden: true, depth: 9 }), error.stack, error.path);
}
say('thrown');`,
      /thrown$/,
    ),
    attempt(
      'commands refuse wrong arguments',
      `
const { spawnSync } = require('child_process');
const lines = [
  ['--json', '{'], ['--json', '-'], ['--json'], ['--__proto__', 'x'], ['--constructor', 'x'], ['--n', 'NaN'],
  ['--json', '{"__proto__":{}}'], ['--'.repeat(1_000)], ['--json', '['.repeat(100_000)]
];
say(distinct(lines.map((args) => String(spawnSync('strict', args, { input: '{' }).status))));`,
      /^1$/,
      () => (seen.length === 0 ? undefined : `the handler got ${JSON.stringify(seen)}`),
    ),
    attempt(
      'a forged command of a binding calls no other binding',
      `
const { spawnSync } = require('child_process');
const path = String(spawnSync('which', ['strict']).stdout).trim();
const text = path && fs.readFileSync(path, 'latin1');
fs.writeFileSync('forged', text.replace('strict', 'nobody'), { mode: 0o755 });
fs.writeFileSync('climbs', text.replace('strict', '../../x'), { mode: 0o755 });
say(
  tried(() => fs.writeFileSync(path, '')),
  distinct(['./forged', './climbs']
    .map((name) => { const { error, status } = spawnSync(name, ['--n', '1']); return error?.code ?? String(status !== 0); }))
);`,
      /^[A-Z]+ (true|E[A-Z]+)( true| E[A-Z]+)*$/,
    ),
  ],
};
