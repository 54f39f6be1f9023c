// Unix sockets and the ends of pipes, which Node calls pipes (pipe_wrap.cc). A name that begins
// with NUL is outside the filesystem. Next: ../net/socket-stream.js.
'use strict';

const context = require('../context.js');
const { EACCES, reasonOf } = require('../errors/denials.js');
const { ERRNO, NUMBERS, PIPE_KIND, TCP_KIND, UDP_KIND, UNIX, nameOf, sys } = require('../net/calls.js');
const { NUMBERS: FILES } = require('../fs/calls.js');
const { PipeConnectWrap } = require('../net/requests.js');
const { SocketStream } = require('../net/socket-stream.js');

const ENOENT = -2;
const STREAM_HANDLE = 0;
const SERVER = 1;
const IPC = 2;
const UV_READABLE = 1;
const UV_WRITABLE = 2;

class Pipe extends SocketStream {
  #bound;
  #mode = 0;
  #isChannel;

  constructor(type) {
    super(type === SERVER ? 'PIPESERVERWRAP' : 'PIPEWRAP');
    this.#isChannel = type === IPC;
  }
  newConnection() {
    return new Pipe(0);
  }
  open(fd) {
    return this.takeOver(fd, PIPE_KIND);
  }
  // Makes this handle the parent's end of a pipe to a child.
  takePipe(fd) {
    this.adopt(fd, UNIX);
  }
  // The channel between processes carries servers, connections and datagram sockets beside its
  // messages. The kernel stores a sent descriptor before the message that refers to the descriptor.
  writeUtf8String(req, text, handle) {
    if (this.#isChannel && handle) {
      const status = sys(NUMBERS.offer, this.socket, handle.fd ?? -1);
      if (status < 0) return status;
    }
    return super.writeUtf8String(req, text);
  }
  emitRead(count, bytes) {
    if (this.#isChannel && count > 0) {
      const fd = sys(NUMBERS.collect, this.socket);
      if (fd >= 0) this.pendingHandle = handleOf(fd);
    }
    super.emitRead(count, bytes);
  }

  bind(name) {
    if (this.#bound !== undefined) return ERRNO.EINVAL;
    let status = this.make(UNIX);
    if (status === 0) status = sys(NUMBERS.bind, this.socket, name, 0, 0);
    // Like libuv, reports EACCES for Linux's ENOENT if the directory does not exist.
    if (status === ENOENT) {
      // Removes the reason of an earlier call, which does not explain this error.
      reasonOf(EACCES);
      return EACCES;
    }
    if (status === 0) this.#bound = name;
    return status;
  }
  listen(backlog) {
    if (this.socket < 0) return ERRNO.EINVAL;
    return this.startListening(backlog);
  }
  connect(req, name) {
    const status = this.make(UNIX);
    if (status < 0) return status;
    return this.startConnecting(req, name, 0);
  }
  reportsThroughRequest() {
    return true;
  }
  fchmod(mode) {
    if ((mode & ~(UV_READABLE | UV_WRITABLE)) !== 0 || mode === 0) return ERRNO.EINVAL;
    if (this.socket < 0) return ERRNO.EBADF;
    const name = nameOf(this.socket, false);
    if (typeof name === 'number') return name;
    this.#mode |= (mode & UV_READABLE ? 0o444 : 0) | (mode & UV_WRITABLE ? 0o222 : 0);
    return sys(FILES.chmod, name[2], 0o711 | this.#mode, 1);
  }
  release() {
    super.release();
    // Like libuv, removes the name of a server when the server is closed.
    if (this.#bound !== undefined && !this.#bound.startsWith('\0')) sys(FILES.unlink, this.#bound);
  }
}

// Makes the handle for a descriptor that another process sent (LibuvStreamWrap::AcceptHandle).
function handleOf(fd) {
  const kind = sys(FILES.kind, fd);
  const { TCP } = context.internalBinding('tcp_wrap');
  const { UDP } = context.internalBinding('udp_wrap');
  const handle = kind === TCP_KIND ? new TCP(STREAM_HANDLE) : kind === UDP_KIND ? new UDP() : new Pipe(STREAM_HANDLE);
  handle.open(fd);
  return handle;
}

module.exports = function pipeWrap(binding) {
  binding.Pipe = Pipe;
  binding.PipeConnectWrap = PipeConnectWrap;
};
