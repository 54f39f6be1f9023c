// The FileHandle below `fs.promises` (node_file.cc): a descriptor that is closed once, and whose
// missing close is reported. The class has no stream half: Node's library reads and writes a
// FileHandle through the binding's `read` and `write`. The StreamBase half of Node's class serves
// only http2, which this guest does not implement. Next: stat-watcher.js.
'use strict';

const context = require('../context.js');
const { AsyncWrap } = require('../event-loop/async-wrap.js');
const { unavailableError } = require('../errors/unavailable.js');
const { NUMBERS, ERRNO, sys } = require('./calls.js');
const { answer, failure, promised } = require('./answers.js');

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

    constructor(fd) {
      super('FILEHANDLE');
      this.#fd = fd;
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
    if (name in FileHandle.prototype) continue;
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
