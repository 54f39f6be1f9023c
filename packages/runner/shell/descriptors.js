// The shell's descriptors: reading, writing, pipes, and files without a name for temporary data.
// The calls block: a shell waits for its descriptors as any shell does, and only its VM is
// suspended. Next: processes.js.

import kernel from 'coldframe:kernel';
import fs from 'node:fs';

const PIECE = 65_536;
const BROKEN_PIPE = 141;

/**
 * Writes all bytes. Ignores a closed descriptor. If the reader has ended, this process ends, as
 * with SIGPIPE.
 */
export function write(fd, bytes) {
  try {
    for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
  } catch (error) {
    if (error.code === 'EPIPE') process.reallyExit(BROKEN_PIPE);
    if (error.code !== 'EBADF') throw error;
  }
}

/** Returns all bytes of `fd` up to the end of the input. */
export function readAll(fd) {
  const pieces = [];
  for (let piece = readSome(fd); piece.length > 0; piece = readSome(fd)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/**
 * Waits until bytes are available and returns at most `most` bytes. Returns no bytes at the end of
 * the input.
 */
export function readSome(fd, most = PIECE) {
  const piece = Buffer.allocUnsafeSlow(most);
  return piece.subarray(0, fs.readSync(fd, piece, 0, most, null));
}

/** Returns the two ends of a pipe: [read end, write end]. */
export function pipe() {
  const ends = kernel.pair();
  if (typeof ends === 'number') throw new Error('the limit of pipes is exceeded');
  return [ends[0], ends[1]];
}

let count = 0;

/** Returns an open file without a name. */
export function openUnnamedFile() {
  const path = `/tmp/.sh-${process.pid}-${++count}`;
  const fd = fs.openSync(path, 'wx+', 0o600);
  fs.unlinkSync(path);
  return fd;
}

/** Returns a descriptor from which `bytes` can be read. */
export function descriptorOf(bytes) {
  const fd = openUnnamedFile();
  for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
  kernel.rewind(fd);
  return fd;
}

/** Returns the content of a descriptor of `openUnnamedFile`, and closes the descriptor. */
export function readUnnamedFile(fd) {
  kernel.rewind(fd);
  const bytes = readAll(fd);
  close(fd);
  return bytes;
}

export const close = (fd) => fs.closeSync(fd);
