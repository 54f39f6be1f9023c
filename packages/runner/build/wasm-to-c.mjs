// Translates WebAssembly to C, for one small module: Node's HTTP parser, llhttp. The parser's C
// sources are generated, and no package of a registry contains only these sources. Node's own
// library has the parser as WebAssembly, for undici. The translation makes the parser a part of the
// guest. The parser then runs at the guest's speed, and its memory is inside the guest's memory.
//
// A stack slot becomes a C variable for its depth. A block becomes a label. Addresses become
// offsets into one array, without a check of the bounds: the guest's own memory is the only memory
// in reach. Instructions that the module does not use are not translated: an instruction that is
// missing in the tables is an error.
//
// This tool is JavaScript, unlike the tools for the guest's own module in `crates/imager`. The C is
// an input of the guest's compiler. The build compiles the guest and the image builder at the same
// time, and the guest would otherwise wait for three minutes of Rust.
import { Reader, sections } from './wasm-reader.mjs';

const TYPES = { 127: 'u32', 126: 'u64' };
const EMPTY = 0x40;

const binary =
  (operator, cast = '') =>
  (a, b) =>
    `${cast}${a} ${operator} ${cast}${b}`;
const COMPARE = [
  ['==', ''],
  ['!=', ''],
  ['<', 's'],
  ['<', ''],
  ['>', 's'],
  ['>', ''],
  ['<=', 's'],
  ['<=', ''],
  ['>=', 's'],
  ['>=', ''],
];
const ARITHMETIC = { 106: '+', 107: '-', 108: '*', 110: '/', 112: '%', 113: '&', 114: '|', 115: '^' };

/** Two operands of a type and one result: opcode → [operand type, result type, text]. */
const BINARY = new Map();
COMPARE.forEach(([operator, sign], index) => {
  BINARY.set(0x46 + index, ['u32', 'u32', binary(operator, sign ? '(s32)' : '')]);
  BINARY.set(0x51 + index, ['u64', 'u32', binary(operator, sign ? '(s64)' : '')]);
});
for (const [code, operator] of Object.entries(ARITHMETIC)) {
  BINARY.set(Number(code), ['u32', 'u32', binary(operator)]);
  BINARY.set(Number(code) + 0x12, ['u64', 'u64', binary(operator)]);
}
for (const [code, type, bits] of [
  [0x74, 'u32', 31],
  [0x86, 'u64', 63],
]) {
  BINARY.set(code, [type, type, (a, b) => `${a} << (${b} & ${bits})`]);
  BINARY.set(code + 1, [type, type, (a, b) => `(${type})((${type === 'u32' ? 's32' : 's64'})${a} >> (${b} & ${bits}))`]);
  BINARY.set(code + 2, [type, type, (a, b) => `${a} >> (${b} & ${bits})`]);
}
BINARY.set(0x77, ['u32', 'u32', (a, b) => `(${a} << (${b} & 31)) | (${a} >> (-${b} & 31))`]);
BINARY.set(0x78, ['u32', 'u32', (a, b) => `(${a} >> (${b} & 31)) | (${a} << (-${b} & 31))`]);

const UNARY = new Map([
  [0x45, ['u32', 'u32', (a) => `!${a}`]],
  [0x50, ['u64', 'u32', (a) => `!${a}`]],
  [0x67, ['u32', 'u32', (a) => `(${a} ? (u32)__builtin_clz(${a}) : 32)`]],
  [0x68, ['u32', 'u32', (a) => `(${a} ? (u32)__builtin_ctz(${a}) : 32)`]],
  [0xa7, ['u64', 'u32', (a) => `(u32)${a}`]],
  [0xac, ['u32', 'u64', (a) => `(u64)(s64)(s32)${a}`]],
  [0xad, ['u32', 'u64', (a) => `(u64)${a}`]],
  [0xc0, ['u32', 'u32', (a) => `(u32)(s32)(int8_t)${a}`]],
  [0xc1, ['u32', 'u32', (a) => `(u32)(s32)(int16_t)${a}`]],
]);
const LOADS = new Map([
  [0x28, ['u32', 'u32']],
  [0x29, ['u64', 'u64']],
  [0x2c, ['u32', 'int8_t']],
  [0x2d, ['u32', 'uint8_t']],
  [0x2e, ['u32', 'int16_t']],
  [0x2f, ['u32', 'uint16_t']],
  [0x35, ['u64', 'u32']],
]);
const STORES = new Map([
  [0x36, 'u32'],
  [0x37, 'u64'],
  [0x3a, 'uint8_t'],
  [0x3b, 'uint16_t'],
  [0x3e, 'u32'],
]);

/**
 * @param {Uint8Array} wasm
 * @param {string} prefix  of every name: `<prefix>_memory`, `<prefix>_<export>`; the includer
 *   defines the imports `<prefix>_<name>`
 * @returns {string} C, to be included
 */
export function translate(wasm, prefix) {
  const module = readModule(wasm);
  const out = [`typedef uint32_t u32; typedef int32_t s32; typedef uint64_t u64; typedef int64_t s64;`];
  out.push(`#define ${prefix.toUpperCase()}_PAGES ${module.pages}`);
  const nameOf = (index) => (index < module.imports.length ? `${prefix}_${module.imports[index].name}` : `${prefix}_f${index}`);
  const signature = (index) => {
    const { parameters, results } = module.types[module.typeOf(index)];
    const list = parameters.map((type, i) => `${type} v${i}`).join(', ');
    return `static ${results[0] ?? 'void'} ${nameOf(index)}(${list || 'void'})`;
  };
  const count = module.imports.length + module.functions.length;
  for (let index = 0; index < count; index++) out.push(`${signature(index)};`);
  for (const [index, value] of module.globals.entries()) out.push(`static u32 ${prefix}_g${index} = ${value}u;`);
  for (let index = 0; index < module.functions.length; index++) {
    const at = module.imports.length + index;
    out.push(`${signature(at)}\n{\n${body(module, module.bodies[index], at, prefix, nameOf)}}`);
  }
  for (const { name, index } of module.exports) out.push(`#define ${prefix}_${name.replace(/^llhttp_/, '')}_ ${nameOf(index)}`);
  for (const [index, { bytes }] of module.data.entries())
    out.push(`static const uint8_t ${prefix}_data${index}[] = {${bytes.join(',')}};`);
  const copies = module.data.map(
    ({ offset }, index) => `    memcpy(${prefix}_memory + ${offset}, ${prefix}_data${index}, sizeof(${prefix}_data${index}));`,
  );
  out.push(`static void ${prefix}_prepare_memory(void)\n{\n${copies.join('\n')}\n}`);
  return `${out.join('\n')}\n`;
}

function readModule(wasm) {
  const module = {
    types: [],
    imports: [],
    functions: [],
    globals: [],
    exports: [],
    elements: [],
    bodies: [],
    data: [],
    pages: 0,
  };
  const readers = {
    1: (r) => module.types.push(readType(r)),
    2: (r) => module.imports.push(readImport(r)),
    3: (r) => module.functions.push(r.leb()),
    5: (r) => {
      const limited = r.u8();
      module.pages = r.leb();
      if (limited & 1) r.leb();
    },
    6: (r) => {
      r.at += 2;
      module.globals.push(constant(r) >>> 0);
    },
    7: (r) => {
      const [name, kind, index] = [r.name(), r.u8(), r.leb()];
      if (kind === 0) module.exports.push({ name, index });
    },
    9: (r) => {
      if (r.leb() !== 0) throw new Error('wasm-to-c: only plain element segments');
      const first = constant(r);
      for (let n = r.leb(), i = 0; i < n; i++) module.elements[first + i] = r.leb();
    },
    10: (r) => {
      const size = r.leb();
      module.bodies.push({ start: r.at, end: r.at + size, wasm });
      r.at += size;
    },
    11: (r) => {
      if (r.leb() !== 0) throw new Error('wasm-to-c: only active data segments');
      const offset = constant(r);
      const size = r.leb();
      module.data.push({ offset, bytes: [...wasm.subarray(r.at, r.at + size)] });
      r.at += size;
    },
  };
  for (const { id, start } of sections(wasm)) {
    if (readers[id] === undefined) continue;
    const reader = new Reader(wasm, start);
    for (let n = reader.leb(); n > 0; n--) readers[id](reader);
  }
  module.typeOf = (index) =>
    index < module.imports.length ? module.imports[index].type : module.functions[index - module.imports.length];
  return module;
}

function readType(r) {
  r.u8();
  const list = () => Array.from({ length: r.leb() }, () => TYPES[r.u8()]);
  return { parameters: list(), results: list() };
}

function readImport(r) {
  r.name();
  const name = r.name();
  if (r.u8() !== 0) throw new Error(`wasm-to-c: the import ${name} is no function`);
  return { name, type: r.leb() };
}

function constant(r) {
  if (r.u8() !== 0x41) throw new Error('wasm-to-c: only constant offsets');
  const value = signed(r);
  r.u8();
  return value;
}

function signed(r) {
  let value = 0n;
  let shift = 0n;
  for (;;) {
    const byte = r.u8();
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte < 128) return Number(byte & 64 ? value - (1n << shift) : value);
  }
}

// Translates a function. `stack` has the types of the slots. `dead` means that the code follows a
// branch and is skipped.
function body(module, { start, end, wasm }, index, prefix, nameOf) {
  const r = new Reader(wasm, start);
  const { parameters, results } = module.types[module.typeOf(index)];
  const locals = [...parameters];
  for (let groups = r.leb(); groups > 0; groups--) for (let n = r.leb(), type = TYPES[r.u8()]; n > 0; n--) locals.push(type);
  const lines = [];
  const used = new Map();
  const stack = [];
  const slot = (depth, type) => {
    const name = `${type === 'u32' ? 'i' : 'l'}${depth}`;
    used.set(name, type);
    return name;
  };
  const push = (type, text) => {
    stack.push(type);
    lines.push(`${slot(stack.length - 1, type)} = ${text};`);
  };
  const pop = () => {
    const type = stack.pop();
    return slot(stack.length, type);
  };
  const blocks = [{ kind: 'function', height: 0, arity: results.length, type: results[0], label: 0, dead: false }];
  let labels = 0;
  let dead = 0;
  const jump = (depth) => {
    const block = blocks[blocks.length - 1 - depth];
    if (block.kind === 'function') return results.length ? `return ${slot(stack.length - 1, results[0])};` : 'return;';
    block.used = true;
    const value =
      block.kind !== 'loop' && block.arity && stack.length - 1 !== block.height
        ? `${slot(block.height, block.type)} = ${slot(stack.length - 1, block.type)}; `
        : '';
    return `{ ${value}goto L${block.label}; }`;
  };
  const open = (kind, r) => {
    const code = r.u8();
    const type = code === EMPTY ? undefined : TYPES[code];
    if (code !== EMPTY && type === undefined) throw new Error('wasm-to-c: a block with parameters');
    blocks.push({ kind, height: stack.length, arity: type ? 1 : 0, type, label: ++labels });
    return labels;
  };
  const address = (offset) => `${prefix}_memory + (u32)(${pop()} + ${offset}u)`;

  while (r.at < end) {
    const op = r.u8();
    if (dead > 0) {
      dead = skip(op, r, dead, blocks, stack, lines);
      continue;
    }
    const top = blocks.at(-1);
    if (BINARY.has(op)) {
      const [, result, text] = BINARY.get(op);
      const b = pop();
      const a = pop();
      push(result, text(a, b));
    } else if (UNARY.has(op)) {
      const [, result, text] = UNARY.get(op);
      push(result, text(pop()));
    } else if (LOADS.has(op)) {
      r.leb();
      const [type, as] = LOADS.get(op);
      const from = address(r.leb());
      push(type, `(${type})*(${as} *)(${from})`);
    } else if (STORES.has(op)) {
      r.leb();
      const offset = r.leb();
      const value = pop();
      lines.push(`*(${STORES.get(op)} *)(${address(offset)}) = (${STORES.get(op)})${value};`);
    } else {
      switch (op) {
        case 0x00:
          lines.push('__builtin_trap();');
          dead = 1;
          break;
        case 0x01:
          break;
        case 0x02:
          open('block', r);
          break;
        case 0x03:
          lines.push(`L${open('loop', r)}:;`);
          break;
        case 0x04: {
          const condition = pop();
          open('if', r);
          lines.push(`if (${condition}) {`);
          break;
        }
        case 0x05:
          stack.length = top.height;
          top.kind = 'else';
          lines.push('} else {');
          break;
        case 0x0b:
          close(blocks, stack, lines, slot, results);
          break;
        case 0x0c:
          lines.push(jump(r.leb()));
          dead = 1;
          break;
        case 0x0d: {
          const condition = pop();
          lines.push(`if (${condition}) ${jump(r.leb())}`);
          break;
        }
        case 0x0e: {
          const value = pop();
          const targets = Array.from({ length: r.leb() }, () => r.leb());
          const otherwise = r.leb();
          const cases = targets.map((target, i) => `case ${i}: ${jump(target)}`);
          lines.push(`switch (${value}) { ${cases.join(' ')} default: ${jump(otherwise)} }`);
          dead = 1;
          break;
        }
        case 0x0f:
          lines.push(results.length ? `return ${slot(stack.length - 1, results[0])};` : 'return;');
          dead = 1;
          break;
        case 0x10:
          invoke(module, r.leb(), nameOf);
          break;
        case 0x11: {
          const type = r.leb();
          r.leb();
          indirect(type);
          break;
        }
        case 0x1a:
          pop();
          break;
        case 0x1b: {
          const [condition, b, a] = [pop(), pop(), pop()];
          push(typeName(a), `${condition} ? ${a} : ${b}`);
          break;
        }
        case 0x20: {
          const local = r.leb();
          push(locals[local], `v${local}`);
          break;
        }
        case 0x21:
          lines.push(`v${r.leb()} = ${pop()};`);
          break;
        case 0x22:
          lines.push(`v${r.leb()} = ${slot(stack.length - 1, stack.at(-1))};`);
          break;
        case 0x23:
          push('u32', `${prefix}_g${r.leb()}`);
          break;
        case 0x24:
          lines.push(`${prefix}_g${r.leb()} = ${pop()};`);
          break;
        case 0x3f:
          r.leb();
          push('u32', `${module.pages}u`);
          break;
        case 0x40:
          // Growing the memory always fails, because the memory is an array of a fixed size.
          r.leb();
          pop();
          push('u32', '~0u');
          break;
        case 0x41:
          push('u32', `${signed(r) >>> 0}u`);
          break;
        case 0x42:
          push('u64', `(u64)${signed(r)}ll`);
          break;
        case 0xfc:
          bulk(r.leb());
          break;
        default:
          throw new Error(`wasm-to-c: instruction 0x${op.toString(16)} is not translated`);
      }
    }
  }
  const declared = [...used].map(([name, type]) => `${type} ${name} = 0;`).join(' ');
  const own = locals
    .slice(parameters.length)
    .map((type, i) => `${type} v${parameters.length + i} = 0;`)
    .join(' ');
  return `${own}\n${declared}\n${lines.join('\n')}\n`;

  function typeName(name) {
    return name[0] === 'i' ? 'u32' : 'u64';
  }
  function invoke(mod, callee, name) {
    const type = mod.types[mod.typeOf(callee)];
    const values = type.parameters.map(() => pop()).reverse();
    const text = `${name(callee)}(${values.join(', ')})`;
    if (type.results.length) push(type.results[0], text);
    else lines.push(`${text};`);
  }
  function indirect(type) {
    const signature = module.types[type];
    const which = pop();
    const values = signature.parameters.map(() => pop()).reverse();
    const cases = module.elements
      .map((callee, i) => [callee, i])
      .filter(([callee]) => callee !== undefined && module.typeOf(callee) === type);
    const result = signature.results.length ? slot(stack.length, signature.results[0]) : undefined;
    const calls = cases.map(
      ([callee, i]) => `case ${i}: ${result ? `${result} = ` : ''}${nameOf(callee)}(${values.join(', ')}); break;`,
    );
    lines.push(`switch (${which}) { ${calls.join(' ')} default: __builtin_trap(); }`);
    if (result) stack.push(signature.results[0]);
  }
  function bulk(code) {
    const [n, b, a] = [pop(), pop(), pop()];
    if (code === 10) {
      r.at += 2;
      lines.push(`memmove(${prefix}_memory + ${a}, ${prefix}_memory + ${b}, ${n});`);
    } else if (code === 11) {
      r.at += 1;
      lines.push(`memset(${prefix}_memory + ${a}, (int)${b}, ${n});`);
    } else {
      throw new Error(`wasm-to-c: instruction 0xfc ${code} is not translated`);
    }
  }
}

function close(blocks, stack, lines, slot, results) {
  const block = blocks.pop();
  if (block.kind === 'function') {
    if (stack.length > 0 && results.length) lines.push(`return ${slot(stack.length - 1, results[0])};`);
    return;
  }
  if (block.kind === 'if' || block.kind === 'else') lines.push('}');
  if (block.kind !== 'loop' && block.used) lines.push(`L${block.label}:;`);
  stack.length = block.height;
  if (block.arity) stack.push(block.type);
}

// Skips an instruction that cannot be reached. Returns the new nesting of skipped blocks; 0 means
// that the following code can be reached.
function skip(op, r, depth, blocks, stack, lines) {
  if (op === 0x02 || op === 0x03 || op === 0x04) {
    r.u8();
    return depth + 1;
  }
  if (op === 0x0b) {
    if (depth > 1) return depth - 1;
    const block = blocks.at(-1);
    if (block.kind === 'function') {
      blocks.pop();
      return 0;
    }
    blocks.pop();
    if (block.kind === 'if' || block.kind === 'else') lines.push('}');
    if (block.kind !== 'loop' && block.used) lines.push(`L${block.label}:;`);
    stack.length = block.height;
    if (block.arity) stack.push(block.type);
    return 0;
  }
  if (op === 0x05 && depth === 1) {
    const block = blocks.at(-1);
    stack.length = block.height;
    block.kind = 'else';
    lines.push('} else {');
    return 0;
  }
  if (LOADS.has(op) || STORES.has(op) || op === 0x11) {
    r.leb();
    r.leb();
  } else if (op === 0x0e) {
    for (let n = r.leb() + 1; n > 0; n--) r.leb();
  } else if ([0x0c, 0x0d, 0x10, 0x20, 0x21, 0x22, 0x23, 0x24, 0x3f, 0x40, 0x41, 0x42].includes(op)) {
    r.leb();
  } else if (op === 0xfc) {
    r.at += r.leb() === 10 ? 2 : 1;
  }
  return depth;
}
