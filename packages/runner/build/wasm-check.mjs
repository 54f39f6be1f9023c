// Reads the finished module once more and refuses what must never be in it: bulk-memory instructions (see engine/shim/memory.c),
// imports that the ABI does not have, and state outside the linear memory. A saved guest is its memory and nothing else
// (docs/internals/snapshots.md): the one variable of wasm itself may be the stack pointer, which has its first value again whenever a turn
// has ended, and the table of functions may never change.
import { bodies, Reader, sections } from './wasm-reader.mjs';

const ABI_MODULE = 'coldframe';

/** @param {Uint8Array} wasm  throws an Error that lists what is wrong */
export function checkModule(wasm) {
  const problems = [];
  for (const { id, start, end } of sections(wasm)) {
    if (id === 2) problems.push(...checkImports(new Reader(wasm, start)));
    if (id === 6) problems.push(...checkGlobals(new Reader(wasm, start)));
    if (id === 10) problems.push(...checkCode(wasm, start, end));
  }
  if (problems.length) throw new Error(`guest.wasm is not as it must be:\n  ${problems.slice(0, 20).join('\n  ')}`);
}

function* checkImports(reader) {
  for (let count = reader.leb(); count > 0; count--) {
    const module = reader.name();
    const name = reader.name();
    const kind = reader.u8();
    reader.leb();
    if (kind !== 0) yield `import ${module}.${name} is no function`;
    if (module !== ABI_MODULE) yield `import ${module}.${name} is not in the ABI`;
  }
}

const MUTABLE = 1;
const I32_CONST = 0x41;
const END = 0x0b;

function* checkGlobals(reader) {
  let variables = 0;
  const count = reader.leb();
  for (let index = 0; index < count; index++) {
    reader.u8(); // its type
    if (reader.u8() === MUTABLE) variables++;
    const op = reader.u8();
    reader.leb();
    if (op !== I32_CONST || reader.u8() !== END) yield `global ${index} does not begin as a plain number`;
  }
  if (variables > 1) yield `${variables} globals can change; only the stack pointer may`;
}

function* checkCode(wasm, start, end) {
  for (const { body, bulk } of bodies(wasm, start, end)) {
    for (const { name } of bulk) yield `function body ${body} contains ${name}`;
  }
}
