// TCP over the kernel's loopback and to the outside (tcp_wrap.cc). Options of sockets are accepted
// without effect. Between two sockets of one kernel nothing is delayed and no peer becomes
// unreachable. The edge chooses the options of connections to the outside. Next:
// ../net/socket-stream.js.
'use strict';

const { ERRNO, INET, INET6, NUMBERS, TCP_KIND, bare, sys } = require('../net/calls.js');
const { TCPConnectWrap } = require('../net/requests.js');
const { SocketStream } = require('../net/socket-stream.js');

const SERVER = 1;
const MAX_TOS = 255;

class TCP extends SocketStream {
  #typeOfService = 0;

  constructor(type) {
    super(type === SERVER ? 'TCPSERVERWRAP' : 'TCPWRAP');
  }
  newConnection() {
    return new TCP(0);
  }
  open(fd) {
    return this.takeOver(fd, TCP_KIND);
  }

  bind(address, port, flags) {
    return this.#bind(INET, address, port, flags);
  }
  bind6(address, port, flags) {
    return this.#bind(INET6, address, port, flags);
  }
  #bind(domain, address, port, flags = 0) {
    let status = this.make(domain);
    if (status === 0) status = sys(NUMBERS.bind, this.socket, bare(address), port, flags);
    return status === ERRNO.EADDRINUSE ? this.delay(status) : status;
  }
  listen(backlog) {
    const status = this.socket < 0 ? this.make(INET) : 0;
    return status < 0 ? status : this.startListening(backlog);
  }
  connect(req, address, port) {
    return this.#connect(INET, req, address, port);
  }
  connect6(req, address, port) {
    return this.#connect(INET6, req, address, port);
  }
  #connect(domain, req, address, port) {
    const status = this.socket < 0 ? this.make(domain) : 0;
    return status < 0 ? status : this.startConnecting(req, bare(address), port);
  }

  getsockname(target) {
    return this.putName(false, target);
  }
  getpeername(target) {
    return this.putName(true, target);
  }
  setNoDelay() {
    return this.socket < 0 ? ERRNO.EBADF : 0;
  }
  setKeepAlive() {
    return this.socket < 0 ? ERRNO.EBADF : 0;
  }
  setTypeOfService(value) {
    if (this.socket < 0) return ERRNO.EBADF;
    if (value < 0 || value > MAX_TOS) return ERRNO.EINVAL;
    this.#typeOfService = value;
    return 0;
  }
  getTypeOfService() {
    return this.socket < 0 ? ERRNO.EBADF : this.#typeOfService;
  }
}

module.exports = function tcpWrap(binding) {
  binding.TCP = TCP;
  binding.TCPConnectWrap = TCPConnectWrap;
};
