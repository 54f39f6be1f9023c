// `tail` of data that grows: `tail -f FILE`, `tail -F FILE`, and `tail -n +N` of standard input.
// The kernel notifies `fs.watch()` of each change, so a follower uses no CPU time while nothing
// changes. Next: programs.js, which lists the commands.

import fs from 'node:fs';
import net from 'node:net';
import { posix } from 'node:path';
import { close, readSome, write } from './descriptors.js';
import { reasonOf } from './reasons.js';

const PIECE = 65_536;
const LINE_FEED = 10;
const BROKEN_PIPE = 141;

// Returns `{ files, count, fromStart, isBytes, follows, byName, quiet }`, or undefined for options
// that this file does not implement.
function readTail(args) {
  const read = { files: [], count: 10, fromStart: false, isBytes: false, follows: false, byName: false, quiet: false };
  const words = [...args];
  while (words.length > 0) {
    const word = words.shift();
    const [, option, attached] = /^(-[nc]|--lines|--bytes)(?:=?(.+))?$/.exec(word) ?? [];
    if (option !== undefined) {
      const [, plus, number] = /^([+-]?)(\d+)$/.exec(attached ?? words.shift() ?? '') ?? [];
      if (number === undefined) return undefined;
      Object.assign(read, { count: Number(number), fromStart: plus === '+', isBytes: option === '-c' || option === '--bytes' });
    } else if (/^-\d+[fF]?$/.test(word)) {
      read.count = Number.parseInt(word.slice(1), 10);
      follow(read, word);
    } else if (/^-[fFq]+$/.test(word)) follow(read, word);
    else if (/^-(\d*[fF]n)$/.test(word)) {
      follow(read, word);
      words.unshift('-n', words.shift() ?? '');
    } else if (/^--follow(=descriptor)?$/.test(word)) read.follows = true;
    else if (word === '--follow=name') Object.assign(read, { follows: true, byName: true });
    else if (word === '--retry') read.byName = true;
    else if (/^(?:-s|--sleep-interval|--pid)$/.test(word)) words.shift();
    else if (/^--(?:sleep-interval|pid)=/.test(word)) continue;
    else if (/^-./.test(word) && word !== '--') return undefined;
    else if (word !== '--') read.files.push(word);
  }
  return read;
}

function follow(read, word) {
  if (/[fF]/.test(word)) read.follows = true;
  if (word.includes('F')) read.byName = true;
  if (word.includes('q')) read.quiet = true;
}

/** Returns whether the arguments make `tail` run until it is ended. */
export const followsFile = (args) => readTail(args)?.follows ?? args.some((arg) => /^-[a-zA-Z]*[fF]|^--follow/.test(arg));

// Returns the position of the last lines or bytes of a file.
function startOf(fd, { count, fromStart, isBytes }) {
  const { size } = fs.fstatSync(fd);
  if (isBytes) return fromStart ? Math.min(size, Math.max(0, count - 1)) : Math.max(0, size - count);
  if (fromStart) return afterLines(fd, Math.max(0, count - 1));
  if (count === 0) return size;
  const piece = Buffer.allocUnsafeSlow(PIECE);
  let left = count;
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - PIECE);
    const length = fs.readSync(fd, piece, 0, end - from, from);
    for (let at = length - 1; at >= 0; at--) {
      // A line feed at the end of the file ends the last line and begins no other line.
      if (piece[at] === LINE_FEED && from + at !== size - 1 && --left === 0) return from + at + 1;
    }
    end = from;
  }
  return 0;
}

function afterLines(fd, lines) {
  const piece = Buffer.allocUnsafeSlow(PIECE);
  let position = 0;
  for (let left = lines; left > 0; ) {
    const length = fs.readSync(fd, piece, 0, PIECE, position);
    if (length === 0) return position;
    let at = 0;
    while (at < length && left > 0) if (piece[at++] === LINE_FEED) left--;
    position += at;
  }
  return position;
}

class Follower {
  constructor(name, read) {
    Object.assign(this, { name, read, path: posix.resolve(name), fd: undefined, position: 0 });
    this.open(true);
  }

  open(isFirst) {
    try {
      this.fd = fs.openSync(this.path, 'r');
      this.ino = fs.fstatSync(this.fd).ino;
      this.position = isFirst ? startOf(this.fd, this.read) : 0;
      return true;
    } catch (error) {
      if (isFirst) write(2, Buffer.from(`tail: cannot open '${this.name}' for reading: ${reasonOf(error)}\n`));
      return false;
    }
  }

  // Opens the file again if another file has the name now.
  renew() {
    if (!this.read.byName) return;
    const there = fs.statSync(this.path, { throwIfNoEntry: false });
    if (there === undefined || there.ino === this.ino) return;
    if (this.fd !== undefined) close(this.fd);
    this.fd = undefined;
    this.open(false);
  }

  // Writes the bytes that are new. A file that became shorter is read from its start.
  pass(header) {
    this.renew();
    if (this.fd === undefined) return;
    if (fs.fstatSync(this.fd).size < this.position) this.position = 0;
    const piece = Buffer.allocUnsafeSlow(PIECE);
    for (;;) {
      const length = fs.readSync(this.fd, piece, 0, PIECE, this.position);
      if (length === 0) return;
      header(this);
      this.position += length;
      write(1, piece.subarray(0, length));
    }
  }
}

// Calls `changed` after each change of a file. The folder of a file that is followed by name is
// watched, because another file can receive the name.
const watch = ({ path, read }, changed) => fs.watch(read.byName ? posix.dirname(path) : path, changed);

/** Runs `tail` with arguments that need no whole input. Returns undefined for other arguments. */
export async function tail(args) {
  const read = readTail(args);
  if (read === undefined) return undefined;
  if (read.files.length === 0 && read.fromStart) return fromStart(read);
  if (!read.follows || read.files.length === 0 || read.files.includes('-')) return undefined;
  const followers = read.files.map((name) => new Follower(name, read));
  const live = followers.filter(({ fd }) => fd !== undefined || read.byName);
  if (live.length === 0) {
    write(2, Buffer.from('tail: no files remaining\n'));
    return 1;
  }
  let last;
  const header = (follower) => {
    if (followers.length === 1 || read.quiet || last === follower) return;
    write(1, Buffer.from(`${last === undefined ? '' : '\n'}==> ${follower.name} <==\n`));
    last = follower;
  };
  const passAll = () => {
    for (const follower of live) follower.pass(header);
  };
  // The watches begin before the first reading, so that no change is missed.
  for (const follower of live) watch(follower, passAll);
  passAll();
  endWithReader();
  return new Promise(() => {});
}

// Ends this process when the reader of its output has ended, as `tail` does. The two ends of a pipe
// are connected sockets, so the end of the reader ends the other direction of the connection. A
// stream of the app is no connection, and Node refuses to make a socket of the stream.
function endWithReader() {
  const stats = fs.fstatSync(1);
  if (!stats.isFIFO() && !stats.isSocket()) return;
  let output;
  try {
    output = new net.Socket({ fd: 1, readable: true, writable: false });
  } catch {
    return;
  }
  for (const event of ['end', 'error']) output.on(event, () => process.exit(BROKEN_PIPE));
  output.resume();
}

// Passes standard input from a line or a byte on.
function fromStart({ count, isBytes }) {
  let left = Math.max(0, count - 1);
  for (let piece = readSome(0); piece.length > 0; piece = readSome(0)) {
    let at = 0;
    if (isBytes) at = Math.min(left, piece.length);
    else while (at < piece.length && left > 0) if (piece[at++] === LINE_FEED) left--;
    if (isBytes) left -= at;
    write(1, piece.subarray(at));
  }
  return 0;
}
