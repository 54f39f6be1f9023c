// Reading a WebAssembly module: sections, names, and function bodies instruction by instruction. Enough for the two passes that need it,
// `wasm-lower.mjs` and `wasm-check.mjs`; an instruction it does not know is an error, never a guess.

export class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  u8() {
    return this.bytes[this.at++];
  }

  /** LEB128; signed ones are only skipped, so one reader does for both. */
  leb() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.u8();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  name() {
    const length = this.leb();
    this.at += length;
    return Buffer.from(this.bytes.subarray(this.at - length, this.at)).toString();
  }
}

/** LEB128 of an unsigned number. */
export function leb(value) {
  const bytes = [];
  do {
    bytes.push((value & 127) | (value > 127 ? 128 : 0));
    value >>>= 7;
  } while (value);
  return bytes;
}

export function* sections(wasm) {
  const reader = new Reader(wasm, 8);
  while (reader.at < wasm.length) {
    const begin = reader.at;
    const id = reader.u8();
    const size = reader.leb();
    yield { id, begin, start: reader.at, end: reader.at + size };
    reader.at += size;
  }
}

/** The instructions of every function body that change a table or are of the bulk kind, as `{ body, name, at, end }`; bodies also as `{ body, start, code, stop }`. */
export function* bodies(wasm, start, end) {
  const reader = new Reader(wasm, start);
  const count = reader.leb();
  for (let body = 0; body < count; body++) {
    const size = reader.leb();
    const begin = reader.at;
    const stop = begin + size;
    for (let locals = reader.leb(); locals > 0; locals--) {
      reader.leb();
      reader.u8();
    }
    const bulk = [];
    while (reader.at < stop) {
      const at = reader.at;
      const name = instruction(reader);
      if (name) bulk.push({ name, at, end: reader.at });
    }
    if (reader.at !== stop) throw new Error(`function body ${body} could not be read to its end`);
    yield { body, begin, stop, bulk };
  }
  if (reader.at !== end) throw new Error('the code section could not be read to its end');
}

const BULK = new Map([
  [8, 'memory.init'],
  [9, 'data.drop'],
  [10, 'memory.copy'],
  [11, 'memory.fill'],
  [12, 'table.init'],
  [13, 'elem.drop'],
  [14, 'table.copy'],
]);

/** Skips two numbers: alignment and offset, or two indices. */
function pair(reader) {
  reader.leb();
  reader.leb();
}

/** Skips what a load or store of one lane has. */
function lane(reader) {
  pair(reader);
  reader.u8();
}

/** Skips one instruction; its name if it is of the bulk kind or changes a table. */
function instruction(reader) {
  const op = reader.u8();
  if (op === 0xfc) return prefixedFc(reader);
  if (op === 0xfd) return prefixedFd(reader);
  if (op === 0x02 || op === 0x03 || op === 0x04)
    reader.leb(); // block type
  else if (op === 0x0e)
    for (let count = reader.leb() + 1; count > 0; count--) reader.leb(); // br_table
  else if (op === 0x11)
    pair(reader); // call_indirect
  else if (op === 0x1c)
    for (let count = reader.leb(); count > 0; count--) reader.u8(); // select t
  else if (op >= 0x28 && op <= 0x3e)
    pair(reader); // loads and stores
  else if (op === 0x43) reader.at += 4;
  else if (op === 0x44) reader.at += 8;
  else if (op === 0x26) {
    reader.leb();
    return 'table.set';
  } else if (ONE_IMMEDIATE.has(op)) reader.leb();
  else if (!isPlain(op)) throw new Error(`unknown instruction 0x${op.toString(16)}`);
  return undefined;
}

const ONE_IMMEDIATE = new Set([0x0c, 0x0d, 0x10, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x3f, 0x40, 0x41, 0x42, 0xd0, 0xd2]);
const isPlain = (op) =>
  op <= 0x01 ||
  op === 0x05 ||
  op === 0x0b ||
  op === 0x0f ||
  op === 0x1a ||
  op === 0x1b ||
  (op >= 0x45 && op <= 0xc4) ||
  op === 0xd1;

function prefixedFc(reader) {
  const op = reader.leb();
  if (op <= 7) return undefined; // saturating truncations
  const name = BULK.get(op);
  if (!name) throw new Error(`unknown instruction 0xfc ${op}`);
  if (op === 9 || op === 13 || op === 11) reader.leb();
  else pair(reader);
  return name;
}

function prefixedFd(reader) {
  const op = reader.leb();
  if (op <= 11 || op === 92 || op === 93)
    pair(reader); // loads and stores
  else if (op === 12 || op === 13)
    reader.at += 16; // constant, shuffle
  else if (op >= 21 && op <= 34)
    reader.u8(); // lanes
  else if (op >= 84 && op <= 91) lane(reader);
  return undefined;
}
