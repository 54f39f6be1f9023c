// Reads the finished module once more and refuses what must never be in it: bulk-memory instructions (see engine/shim/memory.c) and
// imports that the ABI does not have.
import { bodies, Reader, sections } from './wasm-reader.mjs';

const ABI_MODULE = 'coldframe';

/** @param {Uint8Array} wasm  throws an Error that lists what is wrong */
export function checkModule(wasm) {
  const problems = [];
  for (const { id, start, end } of sections(wasm)) {
    if (id === 2) problems.push(...checkImports(new Reader(wasm, start)));
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

function* checkCode(wasm, start, end) {
  for (const { body, bulk } of bodies(wasm, start, end)) {
    for (const { name } of bulk) yield `function body ${body} contains ${name}`;
  }
}
