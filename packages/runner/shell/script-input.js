// Reads lines and bytes of descriptors that other readers share. Bytes are read one by one, because
// the bytes after a line belong to the next reader: a command of the script. The reads do not block
// this VM: signals and timers run meanwhile.
// Next: complete.js, which forms commands from lines; run-script.js, which runs the commands.

import kernel from 'coldframe:kernel';
import fs from 'node:fs';
import { readSome } from './descriptors.js';
import { Interrupted, onInterrupt } from './interrupts.js';

const LINE_FEED = 10;
const BACKSLASH = 92;
const PIECE = 4_096;
const EAGAIN = -11;
const one = new Uint8Array(1);

// Returns the next byte, -1 at the end of the input, or undefined if no byte is there yet.
function byteNow(fd) {
  const count = kernel.readNow(fd, one);
  if (count === EAGAIN) return undefined;
  return count > 0 ? one[0] : -1;
}

/**
 * Reads one byte. Resolves with the byte, with -1 at the end of the input, or with undefined after
 * `milliseconds`.
 */
export async function readByte(fd, milliseconds) {
  for (let byte = byteNow(fd); ; byte = byteNow(fd)) {
    if (byte !== undefined) return byte;
    const isReady = await readable(fd, milliseconds);
    if (isReady === undefined) return readSome(fd, 1)[0] ?? -1;
    if (!isReady) return undefined;
  }
}

// Resolves with true when `fd` has data, with false after the time, or with undefined if the
// descriptor cannot be awaited.
function readable(fd, milliseconds) {
  return new Promise((resolve, reject) => {
    let timer;
    let ignore = () => {};
    const settle = (callback, value) => {
      clearTimeout(timer);
      ignore();
      callback(value);
    };
    const cancel = kernel.whenReadable(fd, () => settle(resolve, true));
    if (cancel === undefined) {
      resolve(undefined);
      return;
    }
    ignore = onInterrupt(() => {
      cancel();
      settle(reject, new Interrupted());
    });
    if (milliseconds === undefined) return;
    timer = setTimeout(() => {
      cancel();
      settle(resolve, false);
    }, milliseconds);
  });
}

/**
 * Reads up to and including the byte `end`, at most `most` bytes. If `joins` is set, a backslash
 * makes the next byte a part of the text. Resolves with `{ bytes, timedOut }`.
 */
export async function readUntil(fd, { end = LINE_FEED, most = Number.POSITIVE_INFINITY, joins = false, deadline } = {}) {
  const bytes = [];
  let isEscaped = false;
  while (bytes.length < most) {
    const left = deadline === undefined ? undefined : Math.max(0, deadline - performance.now());
    const byte = byteNow(fd) ?? (await readByte(fd, left));
    if (byte === undefined) return { bytes: Buffer.from(bytes), timedOut: true };
    if (byte < 0) break;
    bytes.push(byte);
    if (byte === end && !isEscaped) break;
    isEscaped = joins && !isEscaped && byte === BACKSLASH;
  }
  return { bytes: Buffer.from(bytes), timedOut: false };
}

// Returns whether the descriptor has a position, so that bytes can be read again.
function hasPosition(fd) {
  try {
    return fs.fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

function readLineOfFile(fd) {
  const pieces = [];
  for (;;) {
    const piece = readSome(fd, PIECE);
    const end = piece.indexOf(LINE_FEED) + 1;
    pieces.push(end > 0 ? piece.subarray(0, end) : piece);
    if (end > 0) kernel.seek(fd, kernel.position(fd) - piece.length + end);
    if (end > 0 || piece.length === 0) return Buffer.concat(pieces);
  }
}

/** Resolves with the next line of `fd`, with its line break, or with undefined at the end. */
export async function nextLine(fd) {
  const bytes = hasPosition(fd) ? readLineOfFile(fd) : (await readUntil(fd)).bytes;
  return bytes.length === 0 ? undefined : bytes.toString('utf8');
}
