// Terminals (tty_wrap.cc). A terminal is a socket of the kernel, so reading and writing are the
// functions of every stream. Next: ../processes/terminals.js.
'use strict';

const { ERRNO, INVALID_KIND, OUT, TTY_KIND, UNIX, sys } = require('../net/calls.js');
const { NUMBERS: FILES } = require('../fs/calls.js');
const { SocketStream } = require('../net/socket-stream.js');
const { NUMBERS: PROCESSES, sysWait } = require('../processes/calls.js');
const { getSize, isTerminal, setRawMode } = require('../processes/terminals.js');

const FOREVER = -1;

class TTY extends SocketStream {
  constructor(fd, error) {
    super('TTYWRAP');
    const kind = sys(FILES.kind, fd);
    if (kind === TTY_KIND) {
      this.adopt(fd, UNIX);
      return;
    }
    const isOpen = kind !== INVALID_KIND;
    error.code = isOpen ? 'EINVAL' : 'EBADF';
    error.errno = ERRNO[error.code];
    error.message = isOpen ? 'invalid argument' : 'bad file descriptor';
    error.syscall = 'uv_tty_init';
  }
  // Writes all bytes, and blocks this process while the terminal is full. A program may exit after
  // its last write, and the bytes must be shown.
  tryWrite(view) {
    let done = 0;
    while (done < view.byteLength) {
      const taken = super.tryWrite(done === 0 ? view : view.subarray(done));
      if (taken >= 0) done += taken;
      else if (taken !== ERRNO.EAGAIN) return taken;
      else {
        sys(PROCESSES.watch, new Uint32Array([this.socket, OUT]));
        if (sysWait(PROCESSES.waitForWatched, FOREVER) < 0) return done > 0 ? done : ERRNO.EAGAIN;
      }
    }
    return done;
  }
  getWindowSize(size) {
    const found = getSize(this.socket);
    if (typeof found === 'number') return found;
    [size[0], size[1]] = found;
    return 0;
  }
  setRawMode(isRaw) {
    return this.socket < 0 ? ERRNO.EBADF : setRawMode(this.socket, isRaw);
  }
}

module.exports = function ttyWrap(binding) {
  binding.TTY = TTY;
  binding.isTTY = isTerminal;
};
