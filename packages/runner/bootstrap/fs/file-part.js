// A file, or a range of a file, as a part of a Blob (node's dataqueue, `FdEntry`). The file is read
// when the Blob is read, piece by piece. The part keeps the file's size and modification time,
// because a Blob is immutable. If the file has changed, a read fails. Next:
// ../internal-bindings/blob.js, which combines parts.
'use strict';

const { NUMBERS, ERRNO, O_RDONLY, sys } = require('./calls.js');

const CHUNK = 65536;
const FIELDS = 18;
const SIZE = 8;
const MTIME = 12;
const MTIME_NS = 13;

class FilePart {
  #path;
  #stats;
  #start;
  #end;

  constructor(path, stats, start, end) {
    this.#path = path;
    this.#stats = stats;
    this.#start = start;
    this.#end = end;
  }
  // Returns a part for the whole file, or a negative errno.
  static of(path) {
    const stats = statOf(path);
    return typeof stats === 'number' ? stats : new FilePart(path, stats, 0, stats[SIZE]);
  }
  get length() {
    return this.#end - this.#start;
  }
  slice(start, end) {
    return new FilePart(this.#path, this.#stats, this.#start + start, this.#start + end);
  }
  // Returns bytes from `at` on, an empty array at the end of the part, or a negative errno.
  read(at) {
    const stats = statOf(this.#path);
    if (typeof stats === 'number') return stats;
    if ([SIZE, MTIME, MTIME_NS].some((field) => stats[field] !== this.#stats[field])) return ERRNO.EINVAL;
    const bytes = new Uint8Array(Math.min(CHUNK, this.length - at));
    if (bytes.length === 0) return bytes;
    const fd = sys(NUMBERS.open, this.#path, O_RDONLY, 0);
    if (fd < 0) return fd;
    const count = sys(NUMBERS.read, fd, bytes, this.#start + at);
    sys(NUMBERS.close, fd);
    // The file is shorter than its recorded size.
    if (count === 0) return ERRNO.EINVAL;
    return count < 0 ? count : bytes.subarray(0, count);
  }
}

function statOf(path) {
  const stats = new Float64Array(FIELDS);
  const result = sys(NUMBERS.stat, path, stats, 1);
  return result < 0 ? result : stats;
}

module.exports = { FilePart };
