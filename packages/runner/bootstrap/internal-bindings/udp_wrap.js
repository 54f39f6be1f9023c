// Datagrams on the kernel's loopback and to the outside (udp_wrap.cc). The first datagram to a peer
// outside waits for the decision about the peer, and later datagrams wait behind it. Next:
// ../net/calls.js.
'use strict';

const { HandleWrap } = require('../event-loop/async-wrap.js');
const context = require('../context.js');
const { NUMBERS: FILES } = require('../fs/calls.js');
const { reportWith } = require('../errors/denials.js');
const net = require('../net/calls.js');
const { SendWrap } = require('../net/requests.js');

const { ERRNO, IN, INET, INET6, INVALID_KIND, NUMBERS, OUT, UDP_KIND, Waiting, bare, explanationOf, nameOf, sys } = net;

// The longest message, and the number of reads before other handles are served (libuv's numbers).
const MESSAGE_SIZE = 65_536;
const READS_IN_A_ROW = 32;
const NONE = -1;
const IPV6ONLY = 1;
const REUSE = 4 | 64;
const BUFFER_SIZE = 65_536;

let scratch;

class UDP extends HandleWrap {
  #socket = NONE;
  #domain = 0;
  #bound = false;
  #connected = false;
  #receiving = false;
  #buffers = [BUFFER_SIZE, BUFFER_SIZE];
  #input = new Waiting(IN, () => this.#onInput());
  // The datagrams that wait, in order.
  #sends = [];
  #output = new Waiting(OUT, () => this.#onOutput());

  constructor() {
    super('UDPWRAP');
  }
  get fd() {
    return this.#socket < 0 ? ERRNO.EBADF : this.#socket;
  }
  open(fd) {
    if (this.#socket >= 0) return ERRNO.EBUSY;
    const found = sys(FILES.kind, fd);
    if (found !== UDP_KIND) return found === INVALID_KIND ? ERRNO.EBADF : ERRNO.EINVAL;
    const name = nameOf(fd, false);
    if (typeof name === 'number') return name;
    this.#socket = fd;
    this.#domain = name[0];
    this.#bound = name[1] !== 0;
    this.#connected = typeof nameOf(fd, true) !== 'number';
    return 0;
  }
  bind(address, port, flags) {
    return this.#bind(INET, address, port, flags);
  }
  bind6(address, port, flags) {
    return this.#bind(INET6, address, port, flags);
  }
  #make(domain) {
    if (this.#socket >= 0) return this.#domain === domain ? 0 : ERRNO.EINVAL;
    const socket = sys(NUMBERS.socket, domain, net.DATAGRAM);
    if (socket < 0) return socket;
    this.#socket = socket;
    this.#domain = domain;
    return 0;
  }
  #bind(domain, address, port, flags = 0) {
    let status = this.#make(domain);
    if (status < 0) return status;
    const kernelFlags = (flags & IPV6ONLY ? 1 : 0) | (flags & REUSE ? 2 : 0);
    status = sys(NUMBERS.bind, this.#socket, bare(address), port, kernelFlags);
    this.#bound ||= status === 0;
    return status;
  }
  connect(address, port) {
    return this.#connect(INET, address, port);
  }
  connect6(address, port) {
    return this.#connect(INET6, address, port);
  }
  #connect(domain, address, port) {
    let status = this.#make(domain);
    if (status === 0) status = sys(NUMBERS.connect, this.#socket, bare(address), port);
    this.#connected ||= status === 0;
    return status;
  }
  disconnect() {
    if (!this.#connected) return ERRNO.ENOTCONN;
    this.#connected = false;
    return sys(NUMBERS.connect, this.#socket, '', 0);
  }

  send(req, list, count, ...rest) {
    return this.#send(INET, req, list, rest);
  }
  send6(req, list, count, ...rest) {
    return this.#send(INET6, req, list, rest);
  }
  // Sends a datagram at once, or queues it. A positive result is the size plus one, as in Node, and
  // 0 means that the request completes later.
  #send(domain, req, list, rest) {
    const status = this.#make(domain);
    if (status < 0) return status;
    const [port, address] = rest.length > 2 ? rest : [0, ''];
    const bytes = list.length === 1 ? list[0] : Buffer.concat(list);
    const datagram = { req, bytes, address: bare(address), port };
    if (this.#sends.length === 0) {
      const sent = this.#sendNow(datagram);
      if (sent >= 0) return sent + 1;
      if (sent !== ERRNO.EAGAIN) return this.#fail(req, sent);
    }
    this.#sends.push(datagram);
    req.dispatch();
    this.#output.start(this.#socket);
    return 0;
  }
  #sendNow({ bytes, address, port }) {
    return sys(NUMBERS.send, this.#socket, bytes, address, port);
  }
  // Returns the error, or 0 if the error has an explanation and so is reported later.
  #fail(req, status) {
    const reason = explanationOf(this.#socket);
    if (reason === undefined) return status;
    req.dispatch();
    native.enqueueTask(() => reportWith(reason, () => req.finish(status, 0), status));
    return 0;
  }
  #onOutput() {
    const done = [];
    while (this.#sends.length > 0) {
      const sent = this.#sendNow(this.#sends[0]);
      if (sent === ERRNO.EAGAIN) break;
      done.push([this.#sends.shift().req, sent, sent < 0 ? explanationOf(this.#socket) : undefined]);
    }
    if (this.#sends.length > 0) this.#output.start(this.#socket);
    for (const [req, sent, reason] of done) reportWith(reason, () => req.finish(Math.min(sent, 0), Math.max(sent, 0)), sent);
  }

  recvStart() {
    if (this.#socket < 0) return ERRNO.EBADF;
    this.#receiving = true;
    this.setActive(true);
    return this.#input.start(this.#socket);
  }
  recvStop() {
    this.#receiving = false;
    this.#input.stop();
    this.setActive(false);
    return 0;
  }
  #onInput() {
    this.#input.start(this.#socket);
    scratch ??= new Uint8Array(MESSAGE_SIZE);
    const from = new Uint8Array(net.NAME_SIZE);
    for (let i = 0; i < READS_IN_A_ROW && this.#receiving; i++) {
      const count = sys(NUMBERS.receive, this.#socket, scratch, from);
      if (count === ERRNO.EAGAIN) return;
      if (count < 0) {
        this.makeCallback(this.onmessage, count, this, undefined);
        continue;
      }
      const sender = {};
      net.putName(net.readName(from, from.length), sender);
      sender.address = bare(sender.address);
      const { FastBuffer } = context.requireBuiltin('internal/buffer');
      const message = new FastBuffer(scratch.slice(0, count).buffer, 0, count);
      this.makeCallback(this.onmessage, count, this, message, sender);
    }
  }

  getsockname(target) {
    return this.#socket < 0 ? ERRNO.EBADF : net.putName(net.nameOf(this.#socket, false), target);
  }
  getpeername(target) {
    return this.#socket < 0 ? ERRNO.EBADF : net.putName(net.nameOf(this.#socket, true), target);
  }
  // Sets or returns a buffer's size, without effect. Like Linux, doubles the given size.
  bufferSize(size, isReceive, ctx) {
    if (this.#socket < 0) {
      ctx.errno = ERRNO.EBADF;
      ctx.code = 'EBADF';
      ctx.message = 'bad file descriptor';
      ctx.syscall = isReceive ? 'uv_recv_buffer_size' : 'uv_send_buffer_size';
      return undefined;
    }
    const index = isReceive ? 0 : 1;
    if (size > 0) this.#buffers[index] = size * 2;
    return this.#buffers[index];
  }
  getSendQueueSize() {
    return this.#sends.reduce((size, { bytes }) => size + bytes.length, 0);
  }
  getSendQueueCount() {
    return this.#sends.length;
  }
  release() {
    this.#receiving = false;
    this.#input.stop();
    this.#output.stop();
    for (const { req } of this.#sends.splice(0)) native.enqueueTask(() => req.finish(ERRNO.ECANCELED, 0));
    if (this.#socket >= 0) sys(NUMBERS.close, this.#socket, 0);
    this.#socket = NONE;
  }
  setBroadcast() {
    return this.#option();
  }
  setTTL(ttl) {
    return this.#option(ttl);
  }
  setMulticastTTL(ttl) {
    return this.#option(ttl);
  }
  setMulticastLoopback() {
    return this.#option();
  }
  #option(ttl = 1) {
    if (this.#socket < 0) return ERRNO.EBADF;
    return ttl < 1 || ttl > 255 ? ERRNO.EINVAL : 0;
  }
}

// The errno of the methods for multicast groups: the sandbox has no network with groups.
const ENODEV = -19;
for (const name of [
  'setMulticastInterface',
  'addMembership',
  'dropMembership',
  'addSourceSpecificMembership',
  'dropSourceSpecificMembership',
]) {
  UDP.prototype[name] = { [name]: () => ENODEV }[name];
}

module.exports = function udpWrap(binding) {
  binding.UDP = UDP;
  binding.SendWrap = SendWrap;
};
