// Replaces the bulk-memory instructions that the toolchain's own libc was compiled with (ours has none, see engine/shim/memory.c) by calls of
// our memset and memmove, and drops the custom sections. Both take the same operands as the instruction; their result is dropped.
import { bodies, leb, Reader, sections } from './wasm-reader.mjs';

const CALLEE = { 'memory.fill': 'memset', 'memory.copy': 'memmove' };
const CALL = 0x10;
const DROP = 0x1a;
const CODE_SECTION = 10;
const FUNCTION_NAMES = 1;

/** @param {Buffer} wasm  with a name section @returns {Buffer} */
export function lowerBulkMemory(wasm) {
  const functions = readFunctionNames(wasm);
  const parts = [wasm.subarray(0, 8)];
  for (const section of sections(wasm)) {
    if (section.id === 0) continue;
    parts.push(section.id === CODE_SECTION ? rewriteCode(wasm, section, functions) : wasm.subarray(section.begin, section.end));
  }
  return Buffer.concat(parts);
}

function rewriteCode(wasm, { start, end }, functions) {
  const rewritten = [];
  for (const { begin, stop, bulk } of bodies(wasm, start, end)) {
    const body = rewriteBody(wasm.subarray(begin, stop), begin, bulk, functions);
    rewritten.push(Buffer.from(leb(body.length)), body);
  }
  const content = Buffer.concat([Buffer.from(leb(rewritten.length / 2)), ...rewritten]);
  return Buffer.concat([Buffer.from([CODE_SECTION, ...leb(content.length)]), content]);
}

function rewriteBody(body, begin, bulk, functions) {
  if (bulk.length === 0) return body;
  const parts = [];
  let from = 0;
  for (const { name, at, end } of bulk) {
    const callee = functions.get(CALLEE[name]);
    if (callee === undefined) throw new Error(`nothing can stand in for ${name}`);
    parts.push(body.subarray(from, at - begin), Buffer.from([CALL, ...leb(callee), DROP]));
    from = end - begin;
  }
  parts.push(body.subarray(from));
  return Buffer.concat(parts);
}

/** Function name to index. */
function readFunctionNames(wasm) {
  const names = new Map();
  for (const { id, start, end } of sections(wasm)) {
    const reader = new Reader(wasm, start);
    if (id !== 0 || reader.name() !== 'name') continue;
    while (reader.at < end) {
      const kind = reader.u8();
      const stop = reader.leb() + reader.at;
      if (kind === FUNCTION_NAMES) {
        for (let count = reader.leb(); count > 0; count--) {
          const index = reader.leb();
          names.set(reader.name(), index);
        }
      }
      reader.at = stop;
    }
  }
  return names;
}
