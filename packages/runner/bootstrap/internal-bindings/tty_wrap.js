// Terminals (tty_wrap.cc). A terminal is a socket of the kernel, so reading and writing are the
// functions of every stream. Next: ../processes/terminals.js.
'use strict';

const { ERRNO, TTY_KIND, UNIX, sys } = require('../net/calls.js');
const { NUMBERS: FILES } = require('../fs/calls.js');
const { SocketStream } = require('../net/socket-stream.js');
const { getAttributes, getSize, isTerminal, makeRaw, setAttributes } = require('../processes/terminals.js');

const EINTR = -4;

// The attributes of each terminal in raw mode before the first call of setRawMode, by descriptor.
// The end of the process restores the attributes, as libuv's uv_tty_reset_mode.
const before = new Map();

class TTY extends SocketStream {
  constructor(fd, error) {
    super('TTYWRAP');
    const kind = sys(FILES.kind, fd);
    if (kind !== TTY_KIND) {
      error.code = kind === TTY_KIND ? '' : kind < 0 ? 'EBADF' : 'EINVAL';
      error.errno = error.code === 'EBADF' ? ERRNO.EBADF : ERRNO.EINVAL;
      error.message = error.code === 'EBADF' ? 'bad file descriptor' : 'invalid argument';
      error.syscall = 'uv_tty_init';
      return;
    }
    this.adopt(fd, UNIX);
  }
  getWindowSize(size) {
    const found = getSize(this.socket);
    if (typeof found === 'number') return found;
    [size[0], size[1]] = found;
    return 0;
  }
  setRawMode(isRaw) {
    const fd = this.socket;
    if (fd < 0) return ERRNO.EBADF;
    const present = getAttributes(fd);
    if (typeof present === 'number') return present;
    if (!isRaw && !before.has(fd)) return 0;
    const wanted = isRaw ? makeRaw(before.get(fd) ?? present) : before.get(fd);
    const status = set(fd, wanted);
    if (status < 0) return status;
    if (!isRaw) before.delete(fd);
    else if (!before.has(fd)) before.set(fd, present);
    return 0;
  }
}

// Sets attributes. If a signal stopped this background process, the call is repeated after the
// process has continued.
function set(fd, attributes) {
  let status = EINTR;
  while (status === EINTR) status = setAttributes(fd, attributes);
  return status;
}

// Restores the attributes of all terminals in raw mode.
function resetModes() {
  for (const [fd, attributes] of before) setAttributes(fd, attributes);
  before.clear();
}

module.exports = function ttyWrap(binding) {
  binding.TTY = TTY;
  binding.isTTY = isTerminal;
};
module.exports.resetModes = resetModes;
