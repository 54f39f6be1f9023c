// One conversation with one sidecar over any transport: requests out, replies in.
//
// The channel gets `write` and provides `receive` and `close`; sockets, processes and tests use it.
// Each request waits in one map until its reply or error, or until the channel closes, which fails
// all of them with one error. While no request is pending, `onIdle` lets the transport release
// Node's event loop. All frames of one tick are sent in one write.

import { type Deferred, deferred } from '../deferred.js';
import { fromWire, protocolError, versionMismatch } from '../errors/make.js';
import { hello, hostCall, hostCancel, output, started, warning, wireError } from './checks.js';
import { type Frame, FrameReader, FrameWriter } from './frames.js';
import { CONNECTION_ID, type HostCall, Kind, type SidecarHello, type WireWarning } from './messages.js';
import { type PermissionsListener, permissionsEvents } from './permission-messages.js';

/**
 * Receives output of a streamed descriptor: 1 is stdout, 2 is stderr. May keep the bytes. Does not
 * throw.
 */
export type OutputListener = (fd: 1 | 2, data: Uint8Array) => void;

/** Receives the pid of a live program, before its reply. Does not throw. */
export type StartListener = (pid: number) => void;

/** Receives host calls. Does not throw. */
export interface HostListener {
  call(number: number, call: HostCall): void;
  cancel(runtime: number, number: number): void;
  /** The sidecar has ended, and its guests with it. */
  close(): void;
}

/** Receives frames of network connections. Throws for an invalid frame. */
export interface StreamFrames {
  take(frame: Frame): void;
  /** The sidecar has ended, and all connections with it. */
  close(error: Error): void;
}

/** The transport, as the channel uses it. */
export interface ChannelOptions {
  /** The version of this package. The sidecar's must be equal. */
  version: string;
  /** Sends bytes. Called at most once in a tick. */
  write(bytes: Buffer): void;
  /** The sidecar has sent its hello. */
  onHello(hello: SidecarHello): void;
  /** The channel has closed. Called once. The transport then releases its resources. */
  onClose(error: Error): void;
  /** The first request is pending. */
  onBusy(): void;
  /** No request is pending any more. */
  onIdle(): void;
}

/** The channel of one sidecar. */
export interface Channel {
  /** Returns an id for a request that may be cancelled or credited later. */
  nextId(): number;
  /**
   * Sends a request. `check` converts the body of the reply to the result. `onOutput` receives
   * output of the request, `onStarted` the pid of a live program.
   */
  request<T>(
    kind: number,
    id: number,
    body: object,
    check: (body: unknown) => T,
    onOutput?: OutputListener,
    onStarted?: StartListener,
  ): Promise<T>;
  /** Sends a frame without a reply. */
  notify(kind: number, id: number, body: object): void;
  /** Sets the receiver of host calls. Without it, a host call breaks the protocol. */
  listen(listener: HostListener): void;
  /** Sets or removes the receiver of a runtime's permission decisions. */
  onPermissions(runtime: number, listener: PermissionsListener | undefined): void;
  /** Sets the receiver of limit warnings, which does not throw. */
  onWarning(listener: (warning: WireWarning) => void): void;
  /** Sets the receiver of frames of network connections. */
  onStreams(streams: StreamFrames): void;
  /** Resolves when no request is pending any more. Returns `undefined` if none is pending now. */
  idle(): Promise<void> | undefined;
  /** Whether the channel has closed. */
  isOver(): boolean;
  /** Receives bytes of the sidecar. */
  receive(chunk: Buffer): void;
  /** Closes the channel. All pending and later requests fail with the `error` of the first call. */
  close(error: Error): void;
}

interface Pending {
  check: (body: unknown) => unknown;
  onOutput: OutputListener | undefined;
  onStarted: StartListener | undefined;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Makes a channel and sends its hello at once. Requests need not wait for the sidecar's hello. */
export function createChannel(options: ChannelOptions): Channel {
  const pending = new Map<number, Pending>();
  const listeners = new Map<number, PermissionsListener>();
  const writer = new FrameWriter();
  const reader = new FrameReader(handle);
  let greeted = false;
  let flushing = false;
  let closed: Error | undefined;
  let lastId = CONNECTION_ID;
  let quiet: Deferred<void> | undefined;
  let host: HostListener | undefined;
  let warned: (warning: WireWarning) => void = () => {};
  let streams: StreamFrames | undefined;

  function send(kind: number, id: number, body: object): void {
    writer.add(kind, id, body);
    if (flushing) return;
    flushing = true;
    process.nextTick(flush);
  }

  function flush(): void {
    flushing = false;
    if (closed === undefined) options.write(writer.take());
  }

  function close(error: Error): void {
    if (closed !== undefined) return;
    closed = error;
    const failed = [...pending.values()];
    pending.clear();
    options.onClose(error);
    for (const entry of failed) entry.reject(error);
    host?.close();
    streams?.close(error);
    quiet?.resolve();
  }

  const isOver = (): boolean => closed !== undefined;

  function receive(chunk: Buffer): void {
    if (closed !== undefined) return;
    try {
      reader.push(chunk);
    } catch (error) {
      close(error as Error);
    }
  }

  function handle(frame: Frame): void {
    if (closed !== undefined) return;
    if (!greeted) greet(frame);
    else if (frame.kind === Kind.reply || frame.kind === Kind.error) settle(frame);
    else if (frame.kind === Kind.output) deliver(frame);
    else if (frame.kind === Kind.started) begun(frame);
    else if (frame.kind === Kind.hostCall || frame.kind === Kind.hostCancel) asked(frame);
    else if (frame.kind === Kind.permissionsEvents) decided(frame);
    else if (frame.kind === Kind.limitWarning) warned(warning(frame.body));
    else if (frame.kind >= Kind.streamData && frame.kind <= Kind.streamClose && streams !== undefined) streams.take(frame);
    else throw protocolError(`a sidecar sends no frame of kind ${frame.kind}`);
  }

  function greet(frame: Frame): void {
    if (frame.kind === Kind.error) throw refusal(frame);
    if (frame.kind !== Kind.hello) throw protocolError(`the first frame has kind ${frame.kind} and is no hello`);
    const greeting = hello(frame.body);
    if (greeting.version !== options.version) throw versionMismatch(options.version, greeting.version);
    greeted = true;
    options.onHello(greeting);
  }

  function settle(frame: Frame): void {
    const entry = pending.get(frame.id);
    if (entry === undefined) {
      if (frame.kind === Kind.error && frame.id === CONNECTION_ID) throw refusal(frame);
      throw protocolError(`a reply to request ${frame.id}, which is not pending`);
    }
    // Checked first, so that the request is still pending if an invalid body closes the channel.
    const result = frame.kind === Kind.reply ? entry.check(frame.body) : refusal(frame);
    pending.delete(frame.id);
    if (pending.size === 0) rest();
    if (frame.kind === Kind.reply) entry.resolve(result);
    else entry.reject(result as Error);
  }

  function rest(): void {
    options.onIdle();
    quiet?.resolve();
    quiet = undefined;
  }

  function idle(): Promise<void> | undefined {
    if (pending.size === 0) return undefined;
    quiet ??= deferred();
    return quiet.promise;
  }

  function deliver(frame: Frame): void {
    const { fd, data } = output(frame.body);
    const listener = pending.get(frame.id)?.onOutput;
    if (listener === undefined) throw protocolError(`output for request ${frame.id}, which asked for none`);
    // Copied, because `data` is a view of the socket's buffer and the listener may keep it.
    listener(fd, new Uint8Array(data));
  }

  function begun(frame: Frame): void {
    const { pid } = started(frame.body);
    const listener = pending.get(frame.id)?.onStarted;
    if (listener === undefined) throw protocolError(`a pid for request ${frame.id}, which asked for none`);
    listener(pid);
  }

  function asked(frame: Frame): void {
    if (host === undefined) throw protocolError('a host call, and no service is registered');
    if (frame.kind === Kind.hostCancel) {
      host.cancel(hostCancel(frame.body).runtime, frame.id);
      return;
    }
    const call = hostCall(frame.body);
    // Copied, because the input is a view of the socket's buffer and a service may keep it.
    host.call(frame.id, { ...call, input: new Uint8Array(call.input) });
  }

  // The listener may be missing, because the end of a subscription can cross a message.
  function decided(frame: Frame): void {
    const { runtime, events, lost } = permissionsEvents(frame.body);
    const listener = listeners.get(runtime);
    if (listener === undefined) return;
    listener({ events, lost });
    notify(Kind.permissionsTaken, nextId(), { runtime });
  }

  function onPermissions(runtime: number, listener: PermissionsListener | undefined): void {
    if (listener === undefined) listeners.delete(runtime);
    else listeners.set(runtime, listener);
  }

  function request<T>(
    kind: number,
    id: number,
    body: object,
    check: (body: unknown) => T,
    onOutput?: OutputListener,
    onStarted?: StartListener,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (closed !== undefined) throw closed;
      send(kind, id, body);
      pending.set(id, { check, onOutput, onStarted, resolve: resolve as (value: unknown) => void, reject });
      if (pending.size === 1) options.onBusy();
    });
  }

  function nextId(): number {
    do lastId = (lastId + 1) >>> 0;
    while (lastId === CONNECTION_ID || pending.has(lastId));
    return lastId;
  }

  function notify(kind: number, id: number, body: object): void {
    if (closed === undefined) send(kind, id, body);
  }

  function listen(listener: HostListener): void {
    host = listener;
  }

  function onWarning(listener: (warning: WireWarning) => void): void {
    warned = listener;
  }

  function onStreams(taker: StreamFrames): void {
    streams = taker;
  }

  send(Kind.hello, CONNECTION_ID, { version: options.version });
  return { nextId, request, notify, listen, onPermissions, onWarning, onStreams, idle, isOver, receive, close };
}

function refusal(frame: Frame): Error {
  const { code, message, details } = wireError(frame.body);
  return fromWire(code, message, details);
}
