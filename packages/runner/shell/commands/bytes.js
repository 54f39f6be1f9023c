// xxd, hexdump, cmp, truncate and shuf. Contents are strings with one character for each byte, as
// in just-bash. Next: ../commands.js.

import fs from 'node:fs';
import { posix } from 'node:path';
import { reasonOf } from '../reasons.js';
import { readOptions } from './options.js';

const ok = (stdout = '') => ({ stdout, stderr: '', exitCode: 0, stdoutKind: 'bytes' });
const fail = (stderr, exitCode = 1) => ({ stdout: '', stderr: `${stderr}\n`, exitCode });

const hex = (number, width) => number.toString(16).padStart(width, '0');
const SIZES = { __proto__: null, '': 1, b: 512, k: 1_024, K: 1_024, kB: 1_000, KB: 1_000, M: 1 << 20, MB: 1_000_000, G: 2 ** 30 };

/** Returns the number of a size such as `10k` or `0x20`, or undefined. */
export function sizeOf(text = '') {
  if (/^0x[\da-f]+$/i.test(text)) return Number(text);
  const [, number, unit] = /^(\d+)([a-zA-Z]*)$/.exec(text) ?? [];
  return number === undefined || SIZES[unit] === undefined ? undefined : Number(number) * SIZES[unit];
}

function bytesOf(file, { cwd, stdin }) {
  return file === undefined || file === '-' ? Buffer.from(stdin, 'latin1') : fs.readFileSync(posix.resolve(cwd, file));
}

const visible = (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.');

export function xxd(args, context) {
  // `-ps` and `-postscript` are long names of `-p`.
  const { options, operands } = readOptions(
    args.map((arg) => ({ '-ps': '-p', '-plain': '-p', '-postscript': '-p', '-revert': '-r', '-bits': '-b' })[arg] ?? arg),
    'lscgoR',
  );
  const unknown = [...options.keys()].find((letter) => !'lscgoRpruibeEad'.includes(letter));
  if (unknown !== undefined || options.has('e') || options.has('E') || options.has('a')) {
    return fail(`xxd: unsupported option -${unknown ?? 'e, -E or -a'}`);
  }
  let bytes;
  try {
    bytes = bytesOf(operands[0], context);
  } catch (error) {
    return fail(`xxd: ${operands[0]}: ${reasonOf(error)}`, 2);
  }
  const out = dump(bytes, options, operands[0]);
  if (operands[1] === undefined) return ok(out);
  fs.writeFileSync(posix.resolve(context.cwd, operands[1]), Buffer.from(out, 'latin1'));
  return ok();
}

function dump(bytes, options, file) {
  const isPlain = options.has('p');
  if (options.has('r')) return revert(bytes.toString('latin1'), isPlain);
  const seek = options.get('s') ?? '0';
  const skip = seek.startsWith('-') ? Math.max(0, bytes.length - sizeOf(seek.slice(1))) : (sizeOf(seek.replace('+', '')) ?? 0);
  const part = bytes.subarray(skip, skip + (sizeOf(options.get('l')) ?? bytes.length));
  const isBits = options.has('b');
  const columns = sizeOf(options.get('c')) || (isPlain ? 30 : options.has('i') ? 12 : isBits ? 6 : 16);
  const upper = (text) => (options.has('u') ? text.toUpperCase() : text);
  if (options.has('i')) return include(part, columns, upper, file);
  const lines = [];
  for (let at = 0; at < part.length; at += columns) {
    const row = part.subarray(at, at + columns);
    if (isPlain) lines.push(upper(row.toString('hex')));
    else
      lines.push(rowOf(row, skip + at, { columns, isBits, upper, group: sizeOf(options.get('g')), isDecimal: options.has('d') }));
  }
  return lines.map((line) => `${line}\n`).join('');
}

function rowOf(row, offset, { columns, isBits, upper, group, isDecimal }) {
  const size = group ?? (isBits ? 1 : 2);
  const each = size === 0 ? columns : size;
  const width = isBits ? 8 : 2;
  const cells = Array.from(row, (byte) => (isBits ? byte.toString(2).padStart(8, '0') : upper(hex(byte, 2))));
  let text = '';
  cells.forEach((cell, index) => {
    text += index > 0 && index % each === 0 ? ` ${cell}` : cell;
  });
  const whole = columns * width + Math.ceil(columns / each) - 1;
  const label = isDecimal ? String(offset).padStart(8, '0') : hex(offset, 8);
  return `${label}: ${text.padEnd(whole)}  ${Array.from(row, visible).join('')}`;
}

function include(part, columns, upper, file) {
  const rows = [];
  for (let at = 0; at < part.length; at += columns)
    rows.push(`  ${Array.from(part.subarray(at, at + columns), (byte) => `0x${upper(hex(byte, 2))}`).join(', ')}`);
  const body = rows.join(',\n');
  if (file === undefined || file === '-') return body === '' ? '' : `${body}\n`;
  const name = file.replace(/^(?=\d)/, '__').replace(/[^a-zA-Z\d]/g, '_');
  return `unsigned char ${name}[] = {\n${body}\n};\nunsigned int ${name}_len = ${part.length};\n`;
}

function revert(text, isPlain) {
  if (isPlain) return Buffer.from(text.replace(/[^\da-fA-F]/g, ''), 'hex').toString('latin1');
  const out = [];
  for (const line of text.split('\n')) {
    const [, offset, digits] = /^\s*([\da-fA-F]+): ?((?:[\da-fA-F]+ ?)+)/.exec(line) ?? [];
    if (offset === undefined) continue;
    // Two spaces end the digits of a line.
    const bytes = Buffer.from(digits.split('  ')[0].replaceAll(' ', ''), 'hex');
    bytes.forEach((byte, index) => {
      out[Number.parseInt(offset, 16) + index] = byte;
    });
  }
  return Buffer.from(Array.from(out, (byte) => byte ?? 0)).toString('latin1');
}

export function hexdump(args, context) {
  const { options, operands } = readOptions(args, 'nse');
  const unknown = [...options.keys()].find((letter) => !'Cnsvx'.includes(letter));
  if (unknown !== undefined) return fail(`hexdump: unsupported option -${unknown}`);
  let bytes;
  try {
    bytes = Buffer.concat((operands.length > 0 ? operands : ['-']).map((file) => bytesOf(file, context)));
  } catch (error) {
    return fail(`hexdump: ${operands[0]}: ${reasonOf(error)}`);
  }
  const from = sizeOf(options.get('s') ?? '0') ?? 0;
  const part = bytes.subarray(from, from + (sizeOf(options.get('n')) ?? bytes.length));
  const isCanonical = options.has('C');
  const label = (offset) => hex(offset, isCanonical ? 8 : 7);
  const lines = [];
  let [last, isRepeated] = [undefined, false];
  for (let at = 0; at < part.length; at += 16) {
    const row = part.subarray(at, at + 16);
    if (!options.has('v') && last !== undefined && row.length === 16 && row.equals(last)) {
      if (!isRepeated) lines.push('*');
      isRepeated = true;
      continue;
    }
    [last, isRepeated] = [row, false];
    lines.push(isCanonical ? canonical(row, label(from + at)) : words(row, label(from + at), options.has('x')));
  }
  if (part.length > 0) lines.push(label(from + part.length));
  return ok(lines.map((line) => `${line}\n`).join(''));
}

function canonical(row, label) {
  const cells = Array.from(row, (byte) => hex(byte, 2));
  const [left, right] = [cells.slice(0, 8).join(' '), cells.slice(8).join(' ')];
  return `${label}  ${`${left.padEnd(23)}  ${right}`.padEnd(48)}  |${Array.from(row, visible).join('')}|`;
}

function words(row, label, isWide) {
  const cells = [];
  for (let at = 0; at < row.length; at += 2) cells.push(hex(row[at] | ((row[at + 1] ?? 0) << 8), 4));
  const width = isWide ? 8 : 5;
  return `${label}${cells.map((cell) => cell.padStart(width)).join('')}`.padEnd(label.length + 8 * width);
}

export function cmp(args, context) {
  const { options, operands } = readOptions(args, 'n');
  if (operands.length === 0) return fail("cmp: missing operand after 'cmp'\ncmp: Try 'cmp --help' for more information.", 2);
  const [first, second = '-'] = operands;
  const contents = [];
  for (const file of [first, second]) {
    try {
      contents.push(bytesOf(file, context));
    } catch (error) {
      return options.has('s') ? { ...ok(), exitCode: 2 } : fail(`cmp: ${file}: ${reasonOf(error)}`, 2);
    }
  }
  const most = sizeOf(options.get('n')) ?? Number.POSITIVE_INFINITY;
  const [a, b] = contents.map((bytes) => bytes.subarray(0, Math.min(bytes.length, most)));
  const shared = Math.min(a.length, b.length);
  let [line, differences] = [1, ''];
  for (let at = 0; at < shared; at++) {
    if (a[at] !== b[at]) {
      if (options.has('s')) return { ...ok(), exitCode: 1 };
      if (!options.has('l')) return { ...ok(`${first} ${second} differ: char ${at + 1}, line ${line}\n`), exitCode: 1 };
      const width = String(shared).length;
      const octal = (byte) => byte.toString(8).padStart(3);
      differences += `${String(at + 1).padStart(width)} ${octal(a[at])} ${octal(b[at])}\n`;
    }
    if (a[at] === 10) line++;
  }
  if (a.length === b.length) return { ...ok(differences), exitCode: differences === '' ? 0 : 1 };
  if (options.has('s')) return { ...ok(), exitCode: 1 };
  const short = a.length < b.length ? first : second;
  const where =
    shared === 0
      ? 'which is empty'
      : options.has('l')
        ? `after byte ${shared}`
        : `after byte ${shared}, ${lineOf(a, shared, line)}`;
  return { ...ok(differences), stderr: `cmp: EOF on ${short} ${where}\n`, exitCode: 1 };
}

const lineOf = (bytes, shared, line) => (bytes[shared - 1] === 10 ? `line ${line - 1}` : `in line ${line}`);

export function truncate(args, { cwd }) {
  const { options, operands } = readOptions(args, 'sr', { '--size': '-s', '--no-create': '-c' });
  const [, sign, text] = /^([+-]?)(.*)$/.exec(options.get('s') ?? '');
  const size = sizeOf(text);
  if (!options.has('s')) return fail("truncate: you must specify either '--size' or '--reference'");
  if (size === undefined) return fail(`truncate: Invalid number: '${options.get('s')}'`);
  if (operands.length === 0) return fail('truncate: missing file operand');
  let failures = '';
  for (const file of operands) {
    const path = posix.resolve(cwd, file);
    if (options.has('c') && !fs.existsSync(path)) continue;
    try {
      const fd = fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_CREAT, 0o666);
      const before = fs.fstatSync(fd).size;
      fs.ftruncateSync(fd, sign === '+' ? before + size : sign === '-' ? Math.max(0, before - size) : size);
      fs.closeSync(fd);
    } catch (error) {
      failures += `truncate: cannot open '${file}' for writing: ${reasonOf(error)}\n`;
    }
  }
  return { ...ok(), stderr: failures, exitCode: failures === '' ? 0 : 1 };
}

export function shuf(args, context) {
  const { options, operands } = readOptions(args, 'nio', { '--head-count': '-n', '--input-range': '-i' });
  let lines;
  if (options.has('e')) lines = operands;
  else if (options.has('i')) {
    const [low, high] = options.get('i').split('-').map(Number);
    if (!(low <= high + 1)) return fail(`shuf: invalid input range: '${options.get('i')}'`);
    lines = Array.from({ length: high - low + 1 }, (_, index) => String(low + index));
  } else {
    try {
      lines = bytesOf(operands[0], context).toString('latin1').replace(/\n$/, '').split('\n');
    } catch (error) {
      return fail(`shuf: ${operands[0]}: ${reasonOf(error)}`);
    }
  }
  const most = options.has('n') ? Number(options.get('n')) : options.has('r') ? Number.POSITIVE_INFINITY : lines.length;
  if (options.has('r')) {
    if (!Number.isFinite(most)) return fail('shuf: -r needs -n');
    lines = Array.from({ length: most }, () => lines[below(lines.length)]);
  } else {
    for (let at = lines.length - 1; at > 0; at--) {
      const other = below(at + 1);
      [lines[at], lines[other]] = [lines[other], lines[at]];
    }
  }
  return ok(
    lines
      .slice(0, most)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

const below = (most) => Math.floor(Math.random() * most);
