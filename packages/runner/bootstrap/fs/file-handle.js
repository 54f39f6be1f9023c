// The FileHandle below `fs.promises` (node_file.cc): a descriptor that is closed once, and whose
// missing close is reported. Node's library reads and writes a FileHandle through the binding's
// `read` and `write`. Of the stream half of Node's class, only the part exists that sends a file
// through http2. Next: stream-pipe.js, stat-watcher.js.
'use strict';

const context = require('../context.js');
const { AsyncWrap } = require('../event-loop/async-wrap.js');
const { unavailableError } = require('../errors/unavailable.js');
const { EOF } = require('../net/calls.js').ERRNO;
const { NUMBERS, ERRNO, sys } = require('./calls.js');
const { answer, failure, promised } = require('./answers.js');

// The bytes of a part of a file that is sent through http2.
const PART_BYTES = 65_536;
const AT_POSITION = -1;

// Closes the descriptor of a handle that is garbage. The registry is made in the process, because
// the image's own handles are never collected.
let registry;

function closeForgotten(fd) {
  sys(NUMBERS.close, fd);
  context.process.emitWarning(`Closing file descriptor ${fd} on garbage collection`);
  context.process.emitWarning(
    'Closing a FileHandle object on garbage collection is deprecated. ' +
      'Please close FileHandle objects explicitly using FileHandle.prototype.close(). ' +
      'In the future, an error will be thrown if a file descriptor is closed during garbage collection.',
    'DeprecationWarning',
    'DEP0137',
  );
}

class CloseRequest extends AsyncWrap {
  constructor() {
    super('FILEHANDLECLOSEREQ');
  }
}

module.exports = function installFileHandle(binding) {
  const Shape = binding.FileHandle;

  class FileHandle extends AsyncWrap {
    #fd;
    #closing = false;
    // The part of the file that `readPart` reads: the offset or AT_POSITION, and the number of
    // bytes.
    #offset;
    #left;

    constructor(fd, offset = AT_POSITION, length = -1) {
      super('FILEHANDLE');
      this.#fd = fd;
      this.#offset = offset;
      this.#left = length < 0 ? Number.POSITIVE_INFINITY : length;
      registry ??= new FinalizationRegistry(closeForgotten);
      registry.register(this, fd, this);
    }
    get fd() {
      return this.#fd;
    }
    close() {
      if (this.#closing) return Promise.reject(failure(ERRNO.EBADF, 'close'));
      const fd = this.releaseFD();
      return promised(new CloseRequest(), 'close', undefined, undefined, () => {
        const result = sys(NUMBERS.close, fd);
        this.emitDestroy();
        return result < 0 ? result : undefined;
      });
    }
    closeSync() {
      const fd = this.releaseFD();
      const result = sys(NUMBERS.close, fd);
      if (result < 0) throw failure(result, 'close');
    }
    // Returns the next bytes as a new Uint8Array, or a negative errno. The end is EOF.
    readPart() {
      const bytes = new Uint8Array(Math.min(PART_BYTES, this.#left));
      const count = bytes.length === 0 ? 0 : sys(NUMBERS.read, this.#fd, bytes, this.#offset);
      if (count <= 0) return count === 0 ? EOF : count;
      if (this.#offset !== AT_POSITION) this.#offset += count;
      this.#left -= count;
      return bytes.subarray(0, count);
    }
    // Returns the descriptor, which the caller must close.
    releaseFD() {
      const fd = this.#fd;
      this.#closing = true;
      this.#fd = -1;
      registry.unregister(this);
      return fd;
    }
  }
  for (const name of Object.getOwnPropertyNames(Shape.prototype)) {
    if (name in FileHandle.prototype || name === 'onread') continue;
    Object.defineProperty(FileHandle.prototype, name, {
      configurable: true,
      get() {
        throw unavailableError(`FileHandle.${name}`);
      },
    });
  }
  binding.FileHandle = FileHandle;
  binding.openFileHandle = (path, flags, mode, req) =>
    answer(req, 'open', path, undefined, () => {
      const fd = sys(NUMBERS.open, path, flags, mode);
      return fd < 0 ? fd : new FileHandle(fd);
    });
};
