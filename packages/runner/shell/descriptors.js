// What: the shell's descriptors: reading, writing, pipes, and files without a name for what must be kept aside.
// Why calls that wait: a shell waits for its descriptors as any shell does, and its VM alone stands still.
// Next: processes.js.

import kernel from 'coldframe:kernel';
import fs from 'node:fs';

const PIECE = 65_536;
const BROKEN_PIPE = 141;

/** Writes all of it. A reader that has gone ends this process, as SIGPIPE would. */
export function write(fd, bytes) {
  try {
    for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
  } catch (error) {
    if (error.code === 'EPIPE') process.reallyExit(BROKEN_PIPE);
    if (error.code !== 'EBADF') throw error;
  }
}

/** Everything until the end. */
export function readAll(fd) {
  const pieces = [];
  for (let piece = readSome(fd); piece.length > 0; piece = readSome(fd)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** What there is, as soon as there is something; nothing at the end. */
export function readSome(fd, most = PIECE) {
  const piece = Buffer.allocUnsafeSlow(most);
  return piece.subarray(0, fs.readSync(fd, piece, 0, most, null));
}

/** A line with its end, and not a byte more, so that the rest is left for whoever comes next. */
export function readLine(fd) {
  const bytes = [];
  for (;;) {
    const byte = readSome(fd, 1);
    if (byte.length === 0) break;
    bytes.push(byte[0]);
    if (byte[0] === 10) break;
  }
  return Buffer.from(bytes);
}

/** The two ends of a pipe: [to read, to write]. */
export function pipe() {
  const ends = kernel.pair();
  if (typeof ends === 'number') throw new Error('the limit of pipes is reached');
  return [ends[0], ends[1]];
}

let count = 0;

/** A file that is open and has no name. */
export function aside() {
  const path = `/tmp/.sh-${process.pid}-${++count}`;
  const fd = fs.openSync(path, 'wx+', 0o600);
  fs.unlinkSync(path);
  return fd;
}

/** A descriptor from which `bytes` can be read. */
export function holding(bytes) {
  const fd = aside();
  for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
  kernel.rewind(fd);
  return fd;
}

/** What a descriptor of `aside` holds. */
export function takeAside(fd) {
  kernel.rewind(fd);
  const bytes = readAll(fd);
  close(fd);
  return bytes;
}

export const close = (fd) => fs.closeSync(fd);
