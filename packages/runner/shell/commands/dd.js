// `dd`: copies blocks between files or standard streams. Next: ../programs.js.

import fs from 'node:fs';
import { close, write } from '../descriptors.js';
import { reasonOf } from '../reasons.js';
import { sizeOf } from './bytes.js';

const OPERANDS = new Set(['if', 'of', 'bs', 'ibs', 'obs', 'count', 'skip', 'seek', 'conv', 'status', 'iflag', 'oflag']);
const NUMBERS = new Set(['bs', 'ibs', 'obs', 'count', 'skip', 'seek']);

function readOperands(args) {
  const read = { bs: 512, count: Number.POSITIVE_INFINITY, skip: 0, seek: 0, conv: '', status: '' };
  for (const arg of args) {
    const [, name, text] = /^([a-z]+)=(.*)$/s.exec(arg) ?? [];
    if (!OPERANDS.has(name)) return { bad: `unrecognized operand '${arg}'` };
    const value = NUMBERS.has(name) ? sizeOf(text) : text;
    if (value === undefined || (name === 'bs' && value === 0)) return { bad: `invalid number: '${text}'` };
    read[name === 'ibs' || name === 'obs' ? 'bs' : name] = value;
  }
  return read;
}

// Fills the block as far as the input has bytes. A read of a pipe can return a part of a block.
function readBlock(fd, block) {
  let length = 0;
  while (length < block.length) {
    const got = fs.readSync(fd, block, length, block.length - length, null);
    if (got === 0) break;
    length += got;
  }
  return block.subarray(0, length);
}

function open(path, flags) {
  try {
    return fs.openSync(path, flags);
  } catch (error) {
    throw new Error(`failed to open '${path}': ${reasonOf(error)}`);
  }
}

function outputOf({ of: path, conv }) {
  const { O_WRONLY, O_CREAT, O_TRUNC } = fs.constants;
  return path === undefined ? 1 : open(path, O_WRONLY | O_CREAT | (/notrunc/.test(conv) ? 0 : O_TRUNC));
}

export function dd(args) {
  const read = readOperands(args);
  if (read.bad !== undefined) {
    write(2, Buffer.from(`dd: ${read.bad}\n`));
    return 1;
  }
  const began = performance.now();
  const counts = { in: [0, 0], out: [0, 0], bytes: 0 };
  try {
    copy(read, counts);
  } catch (error) {
    write(2, Buffer.from(`dd: ${error.message}\n`));
    return 1;
  }
  const seconds = (performance.now() - began) / 1_000;
  const records = `${counts.in.join('+')} records in\n${counts.out.join('+')} records out\n`;
  const rate = `${counts.bytes} bytes copied, ${seconds.toPrecision(6)} s\n`;
  if (read.status !== 'none') write(2, Buffer.from(read.status === 'noxfer' ? records : records + rate));
  return 0;
}

function copy(read, counts) {
  const from = read.if === undefined ? 0 : open(read.if, 'r');
  const to = outputOf(read);
  const block = Buffer.allocUnsafeSlow(read.bs);
  for (let left = read.skip; left > 0 && readBlock(from, block).length > 0; left--);
  let position = to === 1 ? null : read.seek * read.bs;
  for (let left = read.count; left > 0; left--) {
    const piece = readBlock(from, block);
    if (piece.length === 0) break;
    const kind = piece.length === read.bs ? 0 : 1;
    counts.in[kind]++;
    counts.out[kind]++;
    counts.bytes += piece.length;
    if (position === null) write(to, piece);
    else position += fs.writeSync(to, piece, 0, piece.length, position);
  }
  if (from !== 0) close(from);
  if (to !== 1) close(to);
}
