// What the guest of the property test can be told to do: snippets for a resident runner. Its state is spread over everything that a snapshot
// holds: values in memory, files, children behind pipes, timers.

import type { ResidentRunner } from '../../../src/index.js';

/** What a guest tells of itself. */
export interface Told {
  values: Record<string, string>;
  files: Record<string, string>;
  /** What each child has counted. */
  counts: number[];
  /** The timers that have fired, in the order in which they were set. */
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
  globalThis.box = { values: {}, children: [], timers: [] };
  // Nothing of it keeps a snippet from ending.
  const handles = (child) => [child, child.stdin, child.stdout];
  box.child = () => {
    const child = spawn(process.execPath, ['-e', ${JSON.stringify(CHILD)}], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdout.setEncoding('utf8');
    for (const handle of handles(child)) handle.unref();
    box.children.push(child);
  };
  box.ask = async (child, n) => {
    for (const handle of handles(child)) handle.ref();
    const answer = new Promise((resolve, reject) => {
      child.stdout.once('data', (text) => resolve(Number(text)));
      child.once('exit', (code, signal) => reject(new Error('the child has ended: ' + code + ' ' + signal)));
    });
    child.stdin.write(n + '\\n');
    const count = await answer;
    child.removeAllListeners('exit');
    for (const handle of handles(child)) handle.unref();
    return count;
  };
  box.timer = (name, ms) => {
    const timer = { name, fired: false };
    timer.done = new Promise((resolve) => { timer.handle = setTimeout(() => { timer.fired = true; resolve(); }, ms).unref(); });
    box.timers.push(timer);
  };
`;

const TELL = `
  import { readdirSync, readFileSync } from 'node:fs';
  for (const timer of box.timers) { if (!timer.fired) timer.handle.ref(); await timer.done; }
  const counts = [];
  for (const child of box.children) counts.push(await box.ask(child, 0));
  const files = {};
  for (const name of readdirSync('/workspace/state').sort()) files[name] = readFileSync('/workspace/state/' + name, 'utf8');
  const fired = box.timers.filter((timer) => timer.fired).map((timer) => timer.name);
  console.log(JSON.stringify({ values: box.values, files, counts, fired }));
`;

/** Snippets, each an ES module. */
export const SNIPPETS = {
  setup: SETUP,
  set: (name: string, value: string) => `box.values[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  write: (name: string, text: string) =>
    `import { writeFileSync } from 'node:fs'; writeFileSync('/workspace/state/${name}', ${JSON.stringify(text)})`,
  append: (name: string, text: string) =>
    `import { appendFileSync } from 'node:fs'; appendFileSync('/workspace/state/${name}', ${JSON.stringify(text)})`,
  remove: (name: string) => `import { rmSync } from 'node:fs'; rmSync('/workspace/state/${name}', { force: true })`,
  child: () => 'box.child()',
  count: (child: number, n: number) => `await box.ask(box.children[${child}], ${n})`,
  timer: (name: string, ms: number) => `box.timer(${JSON.stringify(name)}, ${ms})`,
  tell: TELL,
  /** Text that no other guest may ever have given. */
  unique: `
    import { randomBytes, randomUUID } from 'node:crypto';
    console.log(JSON.stringify([Math.random(), randomUUID(), randomBytes(8).toString('hex'), crypto.getRandomValues(new Uint32Array(2)).join()]));
  `,
};

/** Evaluates a snippet that must end well; what it printed. */
export async function evaluate(runner: ResidentRunner, code: string): Promise<string> {
  const result = await runner.exec(code);
  if (result.exitCode !== 0)
    throw new Error(`exit code ${result.exitCode} ${result.error?.code ?? ''}\n${result.stderr}\nof ${code}`);
  return result.stdout;
}

/** What the guest tells of itself, once all its timers have fired. */
export async function tell(runner: ResidentRunner): Promise<Told> {
  return JSON.parse(await evaluate(runner, SNIPPETS.tell)) as Told;
}
