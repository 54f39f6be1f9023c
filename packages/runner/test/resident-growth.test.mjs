// A resident runner evaluates any number of modules in one process, and the heap of the process
// must not grow with the number of modules.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DevGuest, evalEvent, startEvent } from '../build/dev-host.mjs';
import { inputsDir } from '../build/paths.mjs';

const WARM_UP = 5_000;
const EVALUATIONS = process.env.COLDFRAME_TESTS === 'long' ? 100_000 : 10_000;
const ALLOWED_GROWTH = 300_000;
const MS_PER_EVALUATION = 5;

const SOURCES = [
  'const list = [1, 2, 3]; export default list;',
  'import { join } from "node:path"; import { EventEmitter } from "node:events"; ' +
    'new EventEmitter().on("x", () => join("a", "b"));',
  'await null; export class A { url = import.meta.url; }; new A();',
  'import fs from "node:fs"; const { inspect } = await import("node:util"); inspect({ a: [1] });',
];

it(
  `the heap does not grow over ${EVALUATIONS} modules with imports of builtins`,
  async () => {
    const main = Buffer.concat([
      readFileSync(join(inputsDir, 'bootstrap/main.js')),
      Buffer.from('\nglobalThis.__used = () => { native.gc(); return native.memoryUsage().heapUsed; };\n'),
    ]);
    let out = '';
    const guest = new DevGuest({
      buildFile: (name) => (name === 'bootstrap/main.js' ? main : readFileSync(join(inputsDir, name))),
      write: (_fd, bytes) => {
        out += Buffer.from(bytes).toString();
        return bytes.length;
      },
    }).boot();
    guest.turn(startEvent({ mode: 'resident' }));
    let id = 0;
    const evaluate = async (source) => {
      const state = await guest.run(evalEvent(++id, source));
      expect(state.evalExitCode, out).toBe(0);
    };
    const used = async () => {
      out = '';
      await evaluate('console.log(__used());');
      expect(Number(out)).toBeGreaterThan(0);
      return Number(out);
    };
    for (let i = 0; i < WARM_UP; i++) await evaluate(SOURCES[i % SOURCES.length]);
    const before = await used();
    for (let i = 0; i < EVALUATIONS; i++) await evaluate(SOURCES[i % SOURCES.length]);
    expect((await used()) - before).toBeLessThan(ALLOWED_GROWTH);
  },
  60_000 + (WARM_UP + EVALUATIONS) * MS_PER_EVALUATION,
);
