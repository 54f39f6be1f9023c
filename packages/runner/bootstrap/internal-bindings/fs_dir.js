// `fs.opendir` (node_dir.cc): the descriptor of a directory, and its entries in portions.
'use strict';

const { AsyncWrap } = require('../event-loop/async-wrap.js');
const { NUMBERS, ERRNO, O_RDONLY, O_DIRECTORY, sys } = require('../fs/calls.js');
const { answer, failure } = require('../fs/answers.js');
const { eachEntryOf, inEncoding } = require('../fs/names.js');

class DirHandle extends AsyncWrap {
  #fd;
  #entries;

  constructor(fd) {
    super('DIRHANDLE');
    this.#fd = fd;
  }
  // Returns [name, type, name, type, ...] of up to `count` entries, or null after the last entry.
  read(encoding, count, req) {
    return answer(req, 'scandir', undefined, undefined, () => this.#next(encoding, count));
  }
  #next(encoding, count) {
    if (this.#fd < 0) return ERRNO.EBADF;
    if (this.#entries === undefined) {
      const entries = [];
      const result = eachEntryOf(this.#fd, (name, type) => entries.push(name.slice(), type));
      if (result < 0) return result;
      this.#entries = entries;
    }
    if (this.#entries.length === 0) return null;
    const portion = this.#entries.splice(0, count * 2);
    for (let i = 0; i < portion.length; i += 2) portion[i] = inEncoding(portion[i], encoding);
    return portion;
  }
  close(req) {
    const fd = this.#fd;
    this.#fd = -1;
    return answer(req, 'closedir', undefined, undefined, () => {
      const result = sys(NUMBERS.close, fd);
      this.emitDestroy();
      return result < 0 ? result : undefined;
    });
  }
}

module.exports = function fsDir(binding) {
  binding.DirHandle = DirHandle;
  const open = (path) => {
    const fd = sys(NUMBERS.open, path, O_RDONLY | O_DIRECTORY, 0);
    return fd < 0 ? fd : new DirHandle(fd);
  };
  binding.opendir = (path, encoding, req) => answer(req, 'opendir', path, undefined, () => open(path));
  binding.opendirSync = (path) => {
    const handle = open(path);
    // The message has no path, as in Node.
    if (typeof handle === 'number') throw failure(handle, 'opendir');
    return handle;
  };
};
