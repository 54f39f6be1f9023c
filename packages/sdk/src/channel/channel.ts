// One conversation with one sidecar: requests out, replies in, whatever carries the bytes.
//
// The channel is handed `write` and gives `receive` and `close`; sockets, processes and tests plug into it. Every request waits in one
// map until its reply or error, or until the channel closes, which fails all of them with one and the same error. While nothing
// waits, `onIdle` lets the transport release Node's event loop. Frames of one tick leave in one write.

import { type Deferred, deferred } from '../deferred.js';
import { fromWire, protocolError, versionMismatch } from '../errors/make.js';
import { hello, hostCall, hostCancel, output, started, warning, wireError } from './checks.js';
import { type Frame, FrameReader, FrameWriter } from './frames.js';
import { CONNECTION_ID, type HostCall, Kind, type SidecarHello, type WireWarning } from './messages.js';
import { type PermissionsListener, permissionsEvents } from './permission-messages.js';

/** Takes what a streamed descriptor wrote, for good: 1 is stdout, 2 is stderr. Does not throw. */
export type OutputListener = (fd: 1 | 2, data: Uint8Array) => void;

/** Takes the number of a live program, before its reply. Does not throw. */
export type StartListener = (pid: number) => void;

/** Takes what the sidecar asks. Does not throw. */
export interface HostListener {
  call(number: number, call: HostCall): void;
  cancel(runtime: number, number: number): void;
  /** The sidecar is gone, and with it whoever asked. */
  close(): void;
}

/** Takes frames about connections. Throws when one is not what it must be. */
export interface StreamFrames {
  take(frame: Frame): void;
  /** The sidecar is gone, and with it all connections. */
  close(error: Error): void;
}

/** What the channel needs from who carries its bytes. */
export interface ChannelOptions {
  /** This package's version; the sidecar's must be equal. */
  version: string;
  /** Sends bytes; called at most once per tick. */
  write(bytes: Buffer): void;
  /** The sidecar has introduced itself. */
  onHello(hello: SidecarHello): void;
  /** The conversation is over; called once. The transport then gives up its resources. */
  onClose(error: Error): void;
  /** The first request has begun to wait. */
  onBusy(): void;
  /** The last request has its answer. */
  onIdle(): void;
}

/** See `createChannel`. */
export interface Channel {
  /** An id for a request that may be canceled or credited later. */
  nextId(): number;
  /**
   * Sends a request; `check` turns the reply's body into the result. `onOutput` gets the request's output frames, `onStarted` what a live
   * program begins with.
   */
  request<T>(
    kind: number,
    id: number,
    body: object,
    check: (body: unknown) => T,
    onOutput?: OutputListener,
    onStarted?: StartListener,
  ): Promise<T>;
  /** Sends a frame that has no reply. */
  notify(kind: number, id: number, body: object): void;
  /** From now on `listener` takes what the sidecar asks; without one nobody may ask. */
  listen(listener: HostListener): void;
  /** Has a runtime's decisions told to `listener`, or to nobody. */
  hear(runtime: number, listener: PermissionsListener | undefined): void;
  /** From now on `listener` takes warnings. It does not throw. */
  onWarning(listener: (warning: WireWarning) => void): void;
  /** From now on `streams` takes what is said of connections. */
  onStreams(streams: StreamFrames): void;
  /** Resolves when no request waits any more, whatever became of them; `undefined` when none waits now. */
  idle(): Promise<void> | undefined;
  /** Whether the conversation is over. */
  isOver(): boolean;
  /** Takes bytes from the sidecar. */
  receive(chunk: Buffer): void;
  /** Ends the conversation: everything that waits, and every later request, fails with `error`. The first call counts. */
  close(error: Error): void;
}

interface Pending {
  check: (body: unknown) => unknown;
  onOutput: OutputListener | undefined;
  onStarted: StartListener | undefined;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Makes a channel and sends its hello at once; requests may follow without waiting for the sidecar's. */
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
    else throw protocolError(`a frame of kind ${frame.kind} does not come from a sidecar`);
  }

  function greet(frame: Frame): void {
    if (frame.kind === Kind.error) throw refusal(frame);
    if (frame.kind !== Kind.hello) throw protocolError(`the first frame is of kind ${frame.kind} and not a hello`);
    const greeting = hello(frame.body);
    if (greeting.version !== options.version) throw versionMismatch(options.version, greeting.version);
    greeted = true;
    options.onHello(greeting);
  }

  function settle(frame: Frame): void {
    const entry = pending.get(frame.id);
    if (entry === undefined) {
      if (frame.kind === Kind.error && frame.id === CONNECTION_ID) throw refusal(frame);
      throw protocolError(`an answer to request ${frame.id}, which does not wait for one`);
    }
    // Checked first: if the body is not what it must be, the entry still waits when the channel closes.
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
    if (listener === undefined) throw protocolError(`output for request ${frame.id}, which did not ask for any`);
    // `data` is a view of what was read from the socket; the listener keeps what it gets.
    listener(fd, new Uint8Array(data));
  }

  function begun(frame: Frame): void {
    const { pid } = started(frame.body);
    const listener = pending.get(frame.id)?.onStarted;
    if (listener === undefined) throw protocolError(`a start for request ${frame.id}, which did not ask to be told`);
    listener(pid);
  }

  function asked(frame: Frame): void {
    if (host === undefined) throw protocolError('a question, and nobody here answers any');
    if (frame.kind === Kind.hostCancel) {
      host.cancel(hostCancel(frame.body).runtime, frame.id);
      return;
    }
    const call = hostCall(frame.body);
    // A view of what was read from the socket; who answers keeps what it gets.
    host.call(frame.id, { ...call, input: new Uint8Array(call.input) });
  }

  // Nobody may be left to hear: the request to be told no more can cross what is told.
  function decided(frame: Frame): void {
    const { runtime, events, lost } = permissionsEvents(frame.body);
    const listener = listeners.get(runtime);
    if (listener === undefined) return;
    listener({ events, lost });
    notify(Kind.permissionsTaken, nextId(), { runtime });
  }

  function hear(runtime: number, listener: PermissionsListener | undefined): void {
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
  return { nextId, request, notify, listen, hear, onWarning, onStreams, idle, isOver, receive, close };
}

function refusal(frame: Frame): Error {
  const { code, message, details } = wireError(frame.body);
  return fromWire(code, message, details);
}
