// Tests that exhausted memory throws an error. A program can catch the error if enough memory is
// left to continue. An uncaught error ends the program, as in V8.
import { describe, expect, it } from 'vitest';
import { runInProcess } from './bare-guest.mjs';

const LITTLE = { maxMemoryMiB: 32 };
const MESSAGE = 'RangeError JavaScript heap out of memory';

describe('exhausted memory', () => {
  it.each([
    ['objects', 'const kept = []; for (;;) kept.push({});'],
    ['arrays', 'const kept = []; for (;;) kept.push(new Array(1000).fill({}));'],
    ['strings', "const kept = []; for (;;) kept.push('x'.repeat(1000) + kept.length);"],
    ['buffers', 'const kept = []; for (;;) kept.push(new Uint8Array(10_000));'],
    [
      'a map, between awaits',
      'const map = new Map(); for (let i = 0; ; i++) { map.set(i, { i }); if (i % 1000 === 0) await null; }',
    ],
    ['closures', 'const kept = []; for (;;) { const x = kept.length; kept.push(() => x); }'],
    ['properties', 'const object = {}; for (let i = 0; ; i++) object[`k${i}`] = i;'],
    ['source text', "const kept = []; for (let i = 0; ; i++) kept.push(Function(`return ${i} + '${'x'.repeat(1000)}'`));"],
    ['a timer', 'setTimeout(() => { const kept = []; for (;;) kept.push({}); }, 1);'],
    ['a rejected promise', 'const kept = []; await Promise.resolve().then(() => { for (;;) kept.push({}); });'],
    ['kept errors', 'const kept = []; for (;;) { try { kept.push({}, kept.slice()); } catch (error) { kept.push(error); } }'],
  ])(
    "ends the program with V8's text and code for %s",
    async (_name, source) => {
      const { code, stderr } = await runInProcess(source, LITTLE);
      expect(stderr).toContain('JavaScript heap out of memory');
      expect(stderr).not.toContain('null');
      expect(code).toBe(134);
    },
    120_000,
  ); // little memory is left, so the engine collects before each error

  it('is an error that a program can catch before it continues', async () => {
    const { code, stdout } = await runInProcess(
      `
      const fill = () => { const kept = []; for (;;) kept.push('x'.repeat(1000) + kept.length); };
      try { fill(); } catch (error) { print(error.name, error.message); }
      try { new ArrayBuffer(2e9); } catch (error) { print(error.name, error.message); }
      const kept = []; for (let i = 0; i < 1000; i++) kept.push({ i });
      print(kept.length, kept.at(-1).i);`,
      LITTLE,
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${MESSAGE}\n${MESSAGE}\n1000 999\n` });
  });

  it('is available again after it is freed', async () => {
    const { code, stdout } = await runInProcess(
      `
      for (let i = 0; i < 200; i++) { const block = new Uint8Array(10_000_000); block[i] = 1; }
      for (let i = 0; i < 50; i++) { const list = []; for (let j = 0; j < 20_000; j++) list.push({ j }); list.self = list; }
      let text = ''; for (let i = 0; i < 2000; i++) text = 'x'.repeat(i * 1000);
      print('done');`,
      LITTLE,
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' });
  });
});
