// The stream of a TLS socket (tls_wrap.cc): a filter over another stream. The session encrypts and
// decrypts in the edge process (../tls/session.js).
//
// program ─ plain ─► session ─ encrypted ─► the stream below
//         ◄─ plain ─         ◄─ encrypted ─
//
// The stream below may be a socket, a stream of the program, or another TLS socket. The session of
// a connection to the outside is attached: the edge process moves the encrypted bytes. Only bytes
// that arrived before an attached session pass this class. Next: ../tls/secure-context.js,
// ../tls/certificate.js.
'use strict';

const context = require('../context.js');
const { EACCES, reportWith } = require('../errors/denials.js');
const { tlsUnavailableError } = require('../errors/unavailable.js');
const { ERRNO } = require('../net/calls.js');
const { StreamBase } = require('../net/stream-base.js');
const { Below } = require('../tls/below.js');
const { CloseGuard } = require('../tls/close-guard.js');
const { errorOf } = require('../tls/errors.js');
const { addFacts } = require('../tls/facts.js');
const { addMissingMethods } = require('../tls/missing-methods.js');
const { PlainQueue } = require('../tls/plain-queue.js');
const { PlainWrites } = require('../tls/plain-writes.js');
const { nameAt, namesOf, wireOf } = require('../tls/protocol-names.js');
const { exportedMaterial, sessionOf, ticketOf } = require('../tls/session-bytes.js');
const { choicesOf, isWrongContext, settingsOf } = require('../tls/secure-context.js');
const { Session, isFragmentSize } = require('../tls/session.js');
const { Trace } = require('../tls/trace.js');

// While more bytes wait for the stream below, no plain bytes are encrypted.
const MAX_WAITING = 128 << 10;

class TLSWrap extends StreamBase {
  #stream;
  #context;
  #isServer;
  #session;
  // The connection's own settings.
  #options = {};
  #fragment;
  #requests = { verify: false, requires: false, pauses: false, alpn: false, sessions: false, keylog: false };
  #facts;
  #hello;
  #failed = 0;
  #destroyed = false;
  #below;
  #writes = new PlainWrites();
  #shutdown;
  #shutdownSent = false;
  #plain = new PlainQueue(this);
  #hasEnded = false;
  #endDelivered = false;
  #owed = { end: false, drained: false };
  #isHeld = false;
  #guard;
  // Whether the program closes this socket, and not only the stream below.
  #closesItself = false;
  #ticket;
  #traces;

  constructor(stream, context, isServer, hasActiveWrite) {
    super('TLSWRAP', false);
    this.#stream = stream;
    this.#context = context;
    this.#isServer = isServer;
    const broken = (status) => this.#breakWrites(status);
    this.#below = new Below(stream, hasActiveWrite === true, () => this.#flushed(), broken);
    if (stream === undefined || stream === null) return;
    stream.setReadListener((count, view) => this.#onEncrypted(count, view));
    this.#guard = new CloseGuard(
      stream,
      () => this.#beginClose(),
      () => this.#isSettled,
    );
  }

  // Begins the handshake of a client.
  start() {
    this.#begin();
  }
  #begin() {
    if (this.#session !== undefined || this.#destroyed || this.#failed !== 0) return;
    const session = Session.open(this.#owner(), this.#stream?.socket ?? -1);
    if (typeof session === 'number') {
      this.#failed = session;
      native.enqueueTask(() => this.#refuse(session));
      return;
    }
    this.#session = session;
    if (session.isAttached) this.#attach();
    session.start({
      ...settingsOf(this.#context, this.#isServer),
      ...this.#options,
      pauses: this.#isServer && (this.#requests.pauses || this.#requests.alpn),
      requestCert: this.#requests.verify,
      requireCert: this.#requests.requires,
      keyLog: this.#requests.keylog,
    });
    if (this.#fragment !== undefined) session.limitFragment(this.#fragment);
  }
  // Passes the connection to the session. The earlier writes of the program are sent before, and
  // the bytes that have arrived before the session are read to their end.
  #attach() {
    if (!this.#below.isBlocked) this.#session.takeConnection();
    this.#stream.startReading();
  }
  #owner() {
    return {
      toPeer: (view) => this.#toPeer(view),
      toProgram: (view) => this.#toProgram(view),
      ended: () => this.#end(),
      event: (event) => this.#onEvent(event),
      written: (count) => this.#onWritten(count),
      failed: (errno, explanation) => reportWith(explanation, () => this.#fail(errno)),
      drained: () => this.#onDrained(),
      handled: () => this.#guard.check(),
    };
  }
  #toPeer(view) {
    this.#traces?.sent.add(view);
    this.#below.push(view);
  }
  #beginClose() {
    this.#closesItself = this[context.symbols.owner_symbol]?.destroyed !== false;
    // This call also destroys the program's stream, which cannot be delayed: Node's library takes
    // the handle of that stream from its owner during the call.
    if (this.#stream.isOfProgram) this.#session?.settle(() => this.#isSettled);
    if (this.#closesItself && this.#isSettled) this.#below.close();
    // Node's library then waits for the close of the stream, and not for the stream's owner.
    this._parentWrap = undefined;
    this.#stopBelow();
  }
  // Whether the program receives nothing more. The session may still have bytes to send.
  get #isClosed() {
    return this.#destroyed || this.#closesItself;
  }
  // Whether a close of the stream below loses no bytes. The peer's bytes do not matter if the
  // program has closed this socket.
  get #isSettled() {
    if (this.#destroyed || this.#failed !== 0 || this.#session === undefined) return true;
    if (this.#writes.isEncrypting || this.#shutdownSent === true) return false;
    return this.#closesItself || (!this.#session.isDecrypting && !this.#owed.end);
  }
  // Notes whether the session owes the event `name`, which no stream waits for.
  #owe(name, on) {
    this.#owed[name] = on;
    this.#keepAlive();
  }
  // Keeps the event loop alive while an event is owed or bytes of the program are being written. As
  // in Node, writes that wait for the handshake do not keep the loop alive.
  #keepAlive() {
    const owes = this.#owed.end || this.#owed.drained;
    const on = !this.#destroyed && (owes || (!this.#writes.isEmpty && this.#facts !== undefined));
    if (this.#isHeld === on) return;
    this.#isHeld = on;
    native.loop.keepAlive[0] += on ? 1 : -1;
  }

  // The stream below has bytes, or has ended.
  #onEncrypted(count, view) {
    // A destroyed session sends no event, so nothing may wait for one.
    if (this.#destroyed) return;
    if (count > 0) this.#traces?.received.add(view.subarray(0, count));
    if (this.#session?.isAttached) {
      this.#onEarlier(count, view);
      return;
    }
    if (count > 0) {
      this.#begin();
      this.#session?.encrypted(view.slice(0, count));
      if (this.#session?.isDrained === false) {
        this.#owe('drained', true);
        this.#stream.stopReading();
      }
      return;
    }
    if (count === ERRNO.EOF && this.#session?.isDecrypting === true && !this.#hasEnded) {
      // Plain bytes before the end are still in the session.
      this.#owe('end', true);
      this.#session.encryptedEnd();
      return;
    }
    if (count === ERRNO.EOF) this.#end();
    else this.#fail(count);
  }
  // Bytes that arrived before the attached session, or their end. From the end on, the edge reads.
  #onEarlier(count, view) {
    if (count > 0) this.#session.encrypted(view.slice(0, count));
    else if (count === ERRNO.EOF) {
      this.#session.encryptedEnd();
      this.#stream.setActive(this.#plain.isReading);
    } else this.#fail(count);
  }
  receive(buffer) {
    this.#onEncrypted(buffer.length, new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length));
  }
  #onDrained() {
    this.#owe('drained', false);
    if (this.#plain.isReading && !this.#destroyed) this.#stream.startReading();
    this.#encrypt();
  }

  #breakWrites(status) {
    const requests = this.#writes.takeAll();
    this.#keepAlive();
    for (const req of requests) req.finish(status, this, undefined);
    const shutdown = this.#shutdown;
    this.#shutdown = undefined;
    shutdown?.finish(status, this, undefined);
  }
  // All encrypted bytes are written.
  #flushed() {
    const flushed = this.#writes.takeFlushed();
    this.#keepAlive();
    for (const req of flushed) req.finish(0, this, undefined);
    this.#encrypt();
    if (this.#shutdown !== undefined && this.#shutdownSent === 'written') {
      const req = this.#shutdown;
      this.#shutdown = undefined;
      if (this.#session?.isAttached) req.finish(0, this, undefined);
      else this.#below.shutdown((status) => req.finish(status, this, undefined));
    }
  }

  // Writes of the program wait for the handshake, and complete when the stream below has the bytes.
  tryWrite() {
    return ERRNO.EAGAIN;
  }
  queueWrite(req, views) {
    if (this.#destroyed) return ERRNO.EPIPE;
    // After the end, OpenSSL encrypts nothing.
    if (this.#shutdown !== undefined || this.#shutdownSent !== false) return ERRNO.EPROTO;
    req.dispatch(false);
    this.#writes.push(req, views);
    // As in OpenSSL, the first write of a client begins the handshake.
    if (!this.#isServer) this.#begin();
    this.#keepAlive();
    this.#encrypt();
    return 0;
  }
  queueShutdown(req) {
    // The stream below ends once.
    if (this.#destroyed || this.#shutdown !== undefined || this.#shutdownSent !== false) return ERRNO.ENOTCONN;
    req.dispatch();
    this.#shutdown = req;
    const isBroken = this.#session === undefined || this.#failed !== 0;
    if (isBroken || (this.#facts === undefined && this.#session.isAttached !== true)) {
      // Without keys, only the stream below can end, after a client's first message.
      this.#shutdownSent = 'written';
      if (isBroken || this.#isServer || this.#below.isUsed) native.enqueueTask(() => this.#below.isIdle && this.#flushed());
    } else this.#encrypt();
    return 0;
  }
  #encrypt() {
    if (this.#facts === undefined && this.#writes.hasWaiting) return;
    while (this.#writes.hasWaiting && this.#session?.isDrained && this.#below.waiting < MAX_WAITING) {
      if (this.#writes.encryptNext(this.#session) === 0) this.#onWritten(0);
    }
    if (this.#writes.hasWaiting || this.#shutdown === undefined || this.#shutdownSent !== false) return;
    this.#shutdownSent = true;
    this.#session?.plainEnd();
  }
  #onWritten(count) {
    if (count === 0 && this.#shutdownSent === true && !this.#writes.isEncrypting) this.#shutdownSent = 'written';
    this.#writes.encrypted(count);
    if (this.#below.isIdle) this.#flushed();
    this.#guard.check();
  }

  // The session has plain bytes for the program.
  #toProgram(view) {
    if (!this.#isClosed) this.#plain.receive(view, this.#session);
  }
  #deliverWaiting() {
    this.#plain.deliverWaiting(this.#session);
    if (this.#plain.isReading) this.#deliverEnd();
  }
  #end() {
    this.#owe('end', false);
    this.#hasEnded = true;
    this.#deliverEnd();
    this.#guard.check();
  }
  #deliverEnd() {
    if (!this.#hasEnded || this.#endDelivered || !this.#plain.isEmpty || this.#isClosed) return;
    if (!this.#plain.isReading && this.#facts !== undefined) return;
    this.#endDelivered = true;
    this.emitRead(ERRNO.EOF, undefined);
  }
  startReading() {
    this.#plain.isReading = true;
    if (!this.#plain.isEmpty || (this.#hasEnded && !this.#endDelivered)) {
      native.enqueueTask(() => this.#deliverWaiting());
    }
    if (this.#session?.isAttached) {
      if (!this.#endDelivered) this.#stream.setActive(true);
      return 0;
    }
    if (this.#session?.isDrained === false || this.#endDelivered) return 0;
    return this.#stream.startReading();
  }
  stopReading() {
    this.#plain.isReading = false;
    return this.#stopBelow();
  }
  #stopBelow() {
    if (this.#session?.isAttached !== true) return this.#stream.stopReading();
    this.#stream.setActive(false);
    return 0;
  }

  // The kernel opens no session.
  #refuse(errno) {
    if (errno === EACCES && !this.#destroyed) this.makeCallback(this.onerror, tlsUnavailableError());
    else this.#fail(errno);
  }
  // The session or the stream below has failed.
  #fail(errno) {
    this.#owed = { end: false, drained: false };
    this.#keepAlive();
    if (this.#destroyed || this.#endDelivered) return;
    this.#failed = errno;
    this.#endDelivered = true;
    if (!this.#isClosed) this.emitRead(errno, undefined);
    this.#guard.check();
  }
  #onEvent(event) {
    switch (event.type) {
      case 'hello':
        this.#onHello(event);
        break;
      case 'secure':
        this.#facts = event;
        if (event.reused) this.#ticket ??= this.#options.session;
        this.#keepAlive();
        if (this.#isServer && !this.#requests.pauses && !this.#requests.alpn) this.#reportStart();
        this.#report(this.onhandshakedone);
        this.#encrypt();
        break;
      case 'session':
        this.#ticket = event.session;
        if (this.#requests.sessions || !this.#isServer) this.#report(this.onnewsession, Buffer.alloc(0), sessionOf(this.#ticket));
        break;
      case 'keylog':
        this.#report(this.onkeylog, Buffer.from(event.line));
        break;
      case 'error':
        this.#failed = ERRNO.EPROTO;
        if (event.session !== true) this.#report(this.onerror, errorOf(event));
        this.#guard.check();
        break;
      case 'ended':
        this.#end();
        break;
      default:
    }
  }
  #reportStart() {
    const now = Math.round(performance.now());
    if (typeof this.onhandshakestart === 'function') this.#report(this.onhandshakestart, now);
  }
  #report(callback, ...args) {
    if (!this.#isClosed) this.makeCallback(callback, ...args);
  }
  // A server has the client's first message, and waits for the choices of the program.
  #onHello(event) {
    this.#hello = event;
    if (this.#isClosed) return;
    if (event.serverName !== null) (this[context.symbols.owner_symbol] ?? {}).servername = event.serverName;
    if (!this.#requests.pauses && !this.#requests.alpn) return;
    this.#reportStart();
    if (this.#requests.pauses && typeof this.oncertcb === 'function') {
      const servername = event.serverName ?? '';
      this.makeCallback(this.oncertcb, { servername, OCSPRequest: false });
    } else this.certCbDone();
  }
  certCbDone() {
    if (this.#isClosed || this.#session === undefined) return;
    const choices = {};
    if (this.#requests.alpn && this.#hello.alpn !== null && !isWrongContext(this.sni_context)) {
      const offered = this.#hello.alpn;
      // The callback may also set another context.
      const offset = this.makeCallback(this.ALPNCallback, wireOf(offered));
      if (this.#destroyed) return;
      // No protocol of the client has this name, so the session fails as in Node.
      choices.alpn = [nameAt(offered, offset) ?? '\0'];
    }
    if (isWrongContext(this.sni_context)) {
      this.#failed = ERRNO.EPROTO;
      this.makeCallback(this.onerror, new TypeError('Invalid SNI context'));
      return;
    }
    Object.assign(choices, choicesOf(this.sni_context));
    this.#session.go(choices);
  }

  destroySSL() {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#keepAlive();
    this.#session?.close();
    this.#below.close();
    this.#plain.clear();
    this.#breakWrites(ERRNO.ECANCELED);
    this.#guard?.check();
  }
  writesIssuedByPrevListenerDone() {
    this.#below.unblock();
    if (this.#session?.isAttached) this.#session.takeConnection();
  }

  setServername(name) {
    this.#options.serverName = name;
  }
  getServername() {
    const name = this.#isServer ? this.#hello?.serverName : this.#options.serverName;
    return name ?? false;
  }
  setALPNProtocols(wire) {
    this.#options.alpn = namesOf(wire);
  }
  setVerifyMode(request, refuses) {
    this.#requests.verify = request;
    this.#requests.requires = request && refuses;
  }
  enableCertCb() {
    this.#requests.pauses = true;
  }
  enableALPNCb() {
    this.#requests.alpn = true;
  }
  enableSessionCallbacks() {
    this.#requests.sessions = true;
  }
  // Of an attached session, only the bytes that pass this class are traced.
  enableTrace() {
    this.#traces ??= { sent: new Trace('Sent'), received: new Trace('Received') };
  }
  enableKeylogCallback() {
    this.#requests.keylog = true;
  }
  setKeyCert(context) {
    this.sni_context = context.context ?? context;
  }
  setSession(bytes) {
    this.#options.session = ticketOf(bytes) ?? this.#options.session;
  }
  getSession() {
    return this.#facts === undefined ? undefined : sessionOf(this.#ticket);
  }
  exportKeyingMaterial(length, label, context) {
    return exportedMaterial(this.#session, length, label, context);
  }
  getTLSTicket() {
    return this.#ticket === undefined ? undefined : this.getSession();
  }
  setMaxSendFragment(size) {
    if (!isFragmentSize(size)) return 0;
    this.#fragment = size;
    this.#session?.limitFragment(size);
    return 1;
  }
  get writeQueueSize() {
    return this.#destroyed ? 0 : this.#below.waiting + this.#writes.encryptingBytes;
  }
  static {
    addFacts(TLSWrap.prototype, (wrap) => ({
      facts: wrap.#facts,
      isServer: wrap.#isServer,
      own: (wrap.sni_context ?? wrap.#context).state?.identities[0]?.certificate,
    }));
    addMissingMethods(TLSWrap.prototype);
  }
}

module.exports = function tlsWrap(binding) {
  binding.TLSWrap = TLSWrap;
  binding.wrap = (stream, context, isServer, hasActiveWrite) => new TLSWrap(stream, context, isServer, hasActiveWrite);
};
