// Exchanges messages with one sidecar over any transport: requests out, replies in.
//
// The channel sends with the transport's `write`. The transport calls `receive` and `close`. A
// transport is a socket, the addon or a test. One map has all pending requests. A request is
// removed by its reply or error. If the channel closes, all pending requests fail with one error.
// When the last pending request has ended, `onIdle` lets the transport release Node's event loop.
// Messages that belong to no pending request are passed to the subscriber. Next: `connection.ts`.

import { type Deferred, deferred } from '../deferred.js';
import { fromWire, protocolError, versionMismatch } from '../errors/make.js';
import { type Frame, FrameReader, FrameWriter } from '../protocol/frames.js';
import { failure, lost, output, sidecarHello, started } from '../protocol/generated/decoders.js';
import type { Pid, RequestId, SidecarHello } from '../protocol/generated/messages.js';
import { EVENTS, NOTICES, type Notices, REQUESTS, type Requests } from '../protocol/generated/tables.js';
import { type EventSubscriber, SUBSCRIBER_EVENTS } from './events.js';

/**
 * The id of frames that concern the whole connection: the hello, and an error that ends the
 * connection.
 */
const CONNECTION_ID = 0;

/**
 * Receives output of a streamed descriptor: 1 is stdout, 2 is stderr. The listener may keep the
 * bytes. Does not throw.
 */
export type OutputListener = (fd: 1 | 2, data: Uint8Array) => void;

/**
 * Receives the pid of a live program, before the reply to the program's request. `earlier` is the
 * most bytes of earlier output that are sent beyond the window. `isListener` states that the
 * request is a listener of a program with another request. Does not throw.
 */
export type StartListener = (pid: Pid, earlier: number, isListener: boolean) => void;

/** Receives the number of bytes of output that a listener has lost. Does not throw. */
export type LossListener = (bytes: number) => void;

/** The channel's interface to the transport. */
export interface ChannelOptions {
  /** The version of this package. The sidecar's version must be equal. */
  version: string;
  /**
   * Sends bytes. Returns replies that have arrived already, as the addon does, or `undefined`.
   * Called at most once in a tick unless `immediate` is true.
   */
  write(bytes: Buffer): Buffer | undefined;
  /** Whether every frame is written at once instead of at the end of the tick. */
  immediate?: boolean;
  /** Called when the sidecar's hello has arrived. */
  onHello(hello: SidecarHello): void;
  /** Called once, when the channel has closed. The transport then releases its resources. */
  onClose(error: Error): void;
  /** Called when a request becomes the only pending request. */
  onBusy(): void;
  /** Called when the last pending request has ended. Not called when the channel closes. */
  onIdle(): void;
}

/** The listeners of one request. */
export interface RequestOptions<R> {
  /**
   * The id of the request, from `nextId()`. Set by callers that cancel the request or return
   * credit.
   */
  id?: RequestId;
  onOutput?: OutputListener | undefined;
  onStarted?: StartListener | undefined;
  onLost?: LossListener | undefined;
  /** Receives the reply before the channel handles the next message. */
  onReply?(reply: R): void;
}

/** The channel of one sidecar. */
export interface Channel {
  /** Returns an unused id for a request. */
  nextId(): RequestId;
  /** Sends a request. Resolves with the checked reply. */
  request<N extends keyof Requests>(
    name: N,
    body: Requests[N]['body'],
    options?: RequestOptions<Requests[N]['reply']>,
  ): Promise<Requests[N]['reply']>;
  /**
   * Sends a message that has no reply. `id`: a request's id, a host call's number or 0, as the
   * message requires.
   */
  notify<N extends keyof Notices>(name: N, id: number, body: Notices[N]): void;
  /**
   * Returns a promise of the result of a request that was sent without a frame. `settle` resolves
   * the promise.
   */
  expect<R>(id: RequestId, check: (value: unknown, at: string) => R): Promise<R>;
  /** Resolves the promise that `expect` returned for `id`. */
  settle(id: RequestId, result: unknown): void;
  /** Sets the receiver of messages that belong to no pending request. */
  subscribe(subscriber: EventSubscriber): void;
  /**
   * Resolves when the last pending request has ended or the channel has closed. Returns `undefined`
   * if no request is pending.
   */
  idle(): Promise<void> | undefined;
  /** Returns whether the channel has closed. */
  isOver(): boolean;
  /** Processes bytes that the sidecar has sent. */
  receive(chunk: Buffer): void;
  /** Closes the channel. All pending and later requests fail with the `error` of the first call. */
  close(error: Error): void;
}

interface Pending {
  check(value: unknown, at: string): unknown;
  options: RequestOptions<never> | undefined;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * Makes a channel, whose first message is this package's hello. Requests need not wait for the
 * sidecar's hello.
 */
export function createChannel(options: ChannelOptions): Channel {
  const pending = new Map<number, Pending>();
  const writer = new FrameWriter();
  const reader = new FrameReader(handle);
  let greeted = false;
  let flushing = false;
  let closed: Error | undefined;
  let lastId = CONNECTION_ID;
  let quiet: Deferred<void> | undefined;
  let subscriber: EventSubscriber | undefined;

  function send(kind: number, id: number, body: object): void {
    writer.add(kind, id, body);
    if (options.immediate === true) flush();
    else if (!flushing) {
      flushing = true;
      process.nextTick(flush);
    }
  }

  function flush(): void {
    flushing = false;
    if (closed !== undefined) return;
    const replies = options.write(writer.take());
    if (replies) receive(replies);
  }

  function close(error: Error): void {
    if (closed !== undefined) return;
    closed = error;
    const failed = [...pending.values()];
    pending.clear();
    options.onClose(error);
    for (const entry of failed) entry.reject(error);
    subscriber?.closed(error);
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
    else if (frame.kind === EVENTS.reply || frame.kind === EVENTS.error) end(frame);
    else if (frame.kind === EVENTS.output) deliver(frame);
    else if (frame.kind === EVENTS.started) begun(frame);
    else if (frame.kind === EVENTS.lost) missed(frame);
    else notifySubscriber(frame);
  }

  function greet({ kind, body }: Frame): void {
    if (kind === EVENTS.error) throw refusal(body);
    if (kind !== EVENTS.hello) throw protocolError(`the first frame has kind ${kind} and is no hello`);
    const hello = sidecarHello(body, 'hello');
    if (hello.version !== options.version) throw versionMismatch(options.version, hello.version);
    greeted = true;
    options.onHello(hello);
  }

  function end({ kind, id, body }: Frame): void {
    const entry = pending.get(id);
    if (entry === undefined) {
      if (kind === EVENTS.error && id === CONNECTION_ID) throw refusal(body);
      throw protocolError(`a reply to request ${id}, which is not pending`);
    }
    // The body is checked first, so that the request is still pending if an invalid body closes the
    // channel.
    const result = kind === EVENTS.reply ? entry.check(body, 'reply') : refusal(body);
    remove(id);
    if (kind === EVENTS.error) {
      entry.reject(result as Error);
      return;
    }
    entry.options?.onReply?.(result as never);
    entry.resolve(result);
  }

  function settle(id: RequestId, result: unknown): void {
    const entry = pending.get(id);
    if (entry === undefined) return;
    remove(id);
    entry.resolve(result);
  }

  function remove(id: number): void {
    pending.delete(id);
    if (pending.size > 0) return;
    options.onIdle();
    quiet?.resolve();
    quiet = undefined;
  }

  function idle(): Promise<void> | undefined {
    if (pending.size === 0) return undefined;
    quiet ??= deferred();
    return quiet.promise;
  }

  function deliver({ id, body }: Frame): void {
    const { fd, data } = output(body, 'output');
    if (fd !== 1 && fd !== 2) throw protocolError('output.fd is not 1 or 2');
    const listener = pending.get(id)?.options?.onOutput;
    if (listener === undefined) throw protocolError(`output for request ${id}, which asked for none`);
    // The bytes are copied, because `data` is a view of the transport's buffer, and the listener
    // may keep the bytes.
    listener(fd, new Uint8Array(data));
  }

  function begun({ id, body }: Frame): void {
    const { pid, earlier = 0, listener: isListener = false } = started(body, 'started');
    const listener = pending.get(id)?.options?.onStarted;
    if (listener === undefined) throw protocolError(`a pid for request ${id}, which asked for none`);
    listener(pid, earlier, isListener);
  }

  function missed({ id, body }: Frame): void {
    const { bytes } = lost(body, 'lost');
    const listener = pending.get(id)?.options?.onLost;
    if (listener === undefined) throw protocolError(`lost output for request ${id}, which is no listener`);
    listener(bytes);
  }

  function notifySubscriber({ kind, id, body }: Frame): void {
    const tell = SUBSCRIBER_EVENTS.get(kind);
    if (tell === undefined || subscriber === undefined) throw protocolError(`a sidecar sends no frame of kind ${kind}`);
    tell(subscriber, id, body);
  }

  function wait(id: RequestId, check: Pending['check'], options_: Pending['options'], begin: () => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (closed !== undefined) throw closed;
      pending.set(id, { check, options: options_, resolve, reject });
      if (pending.size === 1) options.onBusy();
      try {
        begin();
      } catch (error) {
        if (pending.has(id)) remove(id);
        throw error;
      }
    });
  }

  function request<N extends keyof Requests>(
    name: N,
    body: Requests[N]['body'],
    requestOptions?: RequestOptions<Requests[N]['reply']>,
  ): Promise<Requests[N]['reply']> {
    const { kind, reply } = REQUESTS[name];
    const id = requestOptions?.id ?? nextId();
    const waiting = wait(id, reply, requestOptions as RequestOptions<never> | undefined, () => send(kind, id, body));
    return waiting as Promise<Requests[N]['reply']>;
  }

  function expect<R>(id: RequestId, check: (value: unknown, at: string) => R): Promise<R> {
    return wait(id, check, undefined, () => {}) as Promise<R>;
  }

  function nextId(): RequestId {
    do lastId = (lastId + 1) >>> 0;
    while (lastId === CONNECTION_ID || pending.has(lastId));
    return lastId as RequestId;
  }

  function notify<N extends keyof Notices>(name: N, id: number, body: Notices[N]): void {
    if (closed === undefined) send(NOTICES[name], id, body);
  }

  function subscribe(receiver: EventSubscriber): void {
    subscriber = receiver;
  }

  notify('hello', CONNECTION_ID, { version: options.version });
  return { nextId, request, notify, expect, settle, subscribe, idle, isOver, receive, close };
}

function refusal(body: unknown): Error {
  const { code, message, details } = failure(body, 'error');
  return fromWire(code, message, details);
}
