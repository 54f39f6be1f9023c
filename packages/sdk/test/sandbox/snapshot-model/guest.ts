// Defines the snippets that the property test runs in a resident runner. The guest has state of
// every kind that a snapshot contains: values in memory, files, children behind pipes, timers.

import type { ResidentRunner } from '../../../src/index.js';

/** The state of a guest. */
export interface GuestState {
  values: Record<string, string>;
  files: Record<string, string>;
  /** For each child, the sum of the numbers that the child has received. */
  counts: number[];
  /** The timers that have fired, in the order of their creation. */
  fired: string[];
}

const CHILD = `
  let count = 0;
  process.stdin.setEncoding('utf8').on('data', (lines) => {
    for (const line of lines.trim().split('\\n')) process.stdout.write((count += Number(line)) + '\\n');
  });
`;

const SETUP = `
  import { spawn } from 'node:child_process';
  import { mkdirSync } from 'node:fs';
  mkdirSync('/workspace/state', { recursive: true });
  globalThis.model = { values: {}, children: [], timers: [] };
  // The handles are not referenced, so a snippet can end.
  const handles = (child) => [child, child.stdin, child.stdout];
  model.child = () => {
    const child = spawn(process.execPath, ['-e', ${JSON.stringify(CHILD)}], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdout.setEncoding('utf8');
    for (const handle of handles(child)) handle.unref();
    model.children.push(child);
  };
  model.ask = async (child, n) => {
    for (const handle of handles(child)) handle.ref();
    const reply = new Promise((resolve, reject) => {
      child.stdout.once('data', (text) => resolve(Number(text)));
      child.once('exit', (code, signal) => reject(new Error('the child has ended: ' + code + ' ' + signal)));
    });
    child.stdin.write(n + '\\n');
    const count = await reply;
    child.removeAllListeners('exit');
    for (const handle of handles(child)) handle.unref();
    return count;
  };
  model.timer = (name, ms) => {
    const timer = { name, fired: false };
    timer.done = new Promise((resolve) => { timer.handle = setTimeout(() => { timer.fired = true; resolve(); }, ms).unref(); });
    model.timers.push(timer);
  };
`;

const READ_STATE = `
  import { readdirSync, readFileSync } from 'node:fs';
  for (const timer of model.timers) { if (!timer.fired) timer.handle.ref(); await timer.done; }
  const counts = [];
  for (const child of model.children) counts.push(await model.ask(child, 0));
  const files = {};
  for (const name of readdirSync('/workspace/state').sort()) files[name] = readFileSync('/workspace/state/' + name, 'utf8');
  const fired = model.timers.filter((timer) => timer.fired).map((timer) => timer.name);
  console.log(JSON.stringify({ values: model.values, files, counts, fired }));
`;

/** Snippets, each an ES module. */
export const SNIPPETS = {
  setup: SETUP,
  set: (name: string, value: string) => `model.values[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  write: (name: string, text: string) =>
    `import { writeFileSync } from 'node:fs'; writeFileSync('/workspace/state/${name}', ${JSON.stringify(text)})`,
  append: (name: string, text: string) =>
    `import { appendFileSync } from 'node:fs'; appendFileSync('/workspace/state/${name}', ${JSON.stringify(text)})`,
  remove: (name: string) => `import { rmSync } from 'node:fs'; rmSync('/workspace/state/${name}', { force: true })`,
  child: () => 'model.child()',
  count: (child: number, n: number) => `await model.ask(model.children[${child}], ${n})`,
  timer: (name: string, ms: number) => `model.timer(${JSON.stringify(name)}, ${ms})`,
  state: READ_STATE,
  /** Prints random values that no other guest may have printed. */
  unique: `
    import { randomBytes, randomUUID } from 'node:crypto';
    console.log(JSON.stringify(
      [Math.random(), randomUUID(), randomBytes(8).toString('hex'), crypto.getRandomValues(new Uint32Array(2)).join()]
    ));
  `,
};

/** Evaluates a snippet, which must succeed, and returns its output. */
export async function evaluate(runner: ResidentRunner, code: string): Promise<string> {
  const result = await runner.exec(code);
  if (result.exitCode !== 0)
    throw new Error(`exit code ${result.exitCode} ${result.error?.code ?? ''}\n${result.stderr}\nof ${code}`);
  return result.stdout;
}

/** Returns the state of the guest after all its timers have fired. */
export async function readState(runner: ResidentRunner): Promise<GuestState> {
  return JSON.parse(await evaluate(runner, SNIPPETS.state)) as GuestState;
}
