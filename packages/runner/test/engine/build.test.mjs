// The checks of the finished module: bulk-memory instructions and imports outside the ABI stop the
// build.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { guestPath } from '../../build/paths.mjs';
import { checkModule } from '../../build/wasm-check.mjs';
import { lowerBulkMemory } from '../../build/wasm-lower.mjs';

/** Returns a module with `imports`, memset, memmove and one function with `body`. */
function moduleWith(body, { importModule = 'coldframe' } = {}) {
  const section = (id, bytes) => [id, bytes.length, ...bytes];
  const text = (value) => [value.length, ...Buffer.from(value)];
  const fn = (bytes) => [bytes.length + 2, 0, ...bytes, 0x0b];
  const names = [
    0x01,
    ...(() => {
      const map = [2, 1, ...text('memset'), 2, ...text('memmove')];
      return [map.length, ...map];
    })(),
  ];
  return Buffer.from([
    0,
    0x61,
    0x73,
    0x6d,
    1,
    0,
    0,
    0,
    ...section(1, [2, 0x60, 0, 0, 0x60, 3, 0x7f, 0x7f, 0x7f, 1, 0x7f]),
    ...section(2, [1, ...text(importModule), ...text('f'), 0, 0]),
    ...section(3, [3, 1, 1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [1, ...text('run'), 0, 3]),
    ...section(10, [3, ...fn([0x20, 0]), ...fn([0x20, 0]), ...fn(body)]),
    ...section(0, [...text('name'), ...names]),
  ]);
}

const i32 = (value) => [0x41, value];
const FILL = [...i32(8), ...i32(1), ...i32(2), 0xfc, 11, 0];
const COPY = [...i32(8), ...i32(1), ...i32(2), 0xfc, 10, 0, 0];

describe('the finished module', () => {
  it('has no bulk-memory instruction and imports only the ABI', () => {
    const wasm = readFileSync(guestPath);
    checkModule(wasm);
    const modules = new Set(WebAssembly.Module.imports(new WebAssembly.Module(wasm)).map((entry) => entry.module));
    expect([...modules]).toEqual(['coldframe']);
  });

  it.each([
    ['memory.fill', FILL],
    ['memory.copy', COPY],
  ])('is refused with %s and accepted after lowering', (name, body) => {
    const wasm = moduleWith(body);
    expect(() => checkModule(wasm)).toThrow(`function body 2 contains ${name}`);
    const lowered = lowerBulkMemory(wasm);
    checkModule(lowered);
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(lowered), { coldframe: { f() {} } });
    exports.run();
  });

  it('is refused with an import from elsewhere', () => {
    expect(() => checkModule(moduleWith([], { importModule: 'env' }))).toThrow('import env.f is not in the ABI');
  });

  it('is accepted with constants that look like instructions', () => {
    // i32.const with bytes that look like memory.fill
    checkModule(moduleWith([0x41, 0xfc, 0x8b, 0, 0x1a]));
  });
});
