// Implements the calls of a connection over a channel, so that every transport shares one
// implementation. Events of the channel are passed to the host call dispatcher and to the listeners
// of their runtimes. Next: `network-link.ts`, inbound connections.

import { HostCallDispatcher } from '../host-calls/dispatcher.js';
import type { RuntimeId } from '../protocol/generated/messages.js';
import type { Channel } from './channel.js';
import { type Grant, grantPaths } from './grants.js';
import { HandlerListeners } from './handler-listeners.js';
import { ChannelNetwork } from './network-link.js';
import { QueueReader } from './queue-reader.js';
import type { ProcessConnection } from './sidecar-connection.js';
import { WarningListeners } from './warnings.js';

/** Calls that a transport may implement without frames, which is faster. */
export type FastCalls = Pick<ProcessConnection, 'createRuntime' | 'start' | 'evaluate'>;

/**
 * Makes a connection over `channel`. `process` has the calls that only the transport can implement.
 * `grant` receives the paths of each request before the request is sent.
 * `replace` receives the connection over frames and returns the transport's faster calls.
 */
export function connectChannel(
  channel: Channel,
  process: Pick<ProcessConnection, 'pid' | 'dispose' | 'walls' | 'image'> & { grant?: Grant },
  replace?: (framed: FastCalls) => FastCalls,
): ProcessConnection {
  const { notify, nextId } = channel;
  const { grant, ...calls } = process;
  const request: Channel['request'] = (name, body, options) => {
    if (grant !== undefined) grantPaths(grant, name, body);
    return channel.request(name, body, options);
  };
  const dispatcher = new HostCallDispatcher({
    ok: (runtime, number, ok) => notify('host.result', number, { runtime, ok }),
    failure: (runtime, number, code, message) => notify('host.result', number, { runtime, failure: { code, message } }),
  });
  const warnings = new WarningListeners();
  const decisions = new QueueReader(request, 'permissions.take', (runtime) => ({ runtime }));
  const outside = new QueueReader(request, 'outside.take', (runtime) => ({ runtime }));
  const members = new QueueReader(request, 'network.take', (network) => ({ network }));
  const secrets = new Map<RuntimeId, () => void>();
  const handlers = new HandlerListeners();
  const network = new ChannelNetwork(channel);
  channel.subscribe({
    ...network.events,
    hostCall: (number, call) => dispatcher.call(number, call),
    hostCancel: (number, runtime) => dispatcher.cancel(runtime, number),
    limitWarning: ({ runtime, ...warning }) => warnings.notify(runtime, warning),
    permissionsPending: (runtime) => decisions.pending(runtime),
    outsidePending: (runtime) => outside.pending(runtime),
    handlerWanted: (runtime, number) => handlers.wanted(runtime, number),
    networkPending: (network) => members.pending(network),
    secretsWanted: (runtime) => secrets.get(runtime)?.(),
    closed(error) {
      dispatcher.close();
      network.close(error);
    },
  });
  const connection: ProcessConnection = {
    ...calls,
    nextId,
    request: (name, body) => request(name, body),
    idle: channel.idle,
    isOver: channel.isOver,
    network,
    createRuntime: (options, onWarning) =>
      request('runtime.create', options, {
        onReply: ({ runtime }) => {
          warnings.listen(runtime, onWarning);
          if (options.weight !== undefined) dispatcher.setWeight(runtime, options.weight);
        },
      }),
    cloneRuntime: async (clone, onWarning) => {
      const { copies } = await request('runtime.clone', clone, {
        onReply: (reply) => {
          for (const { runtime } of reply.copies) {
            if (runtime === undefined) continue;
            warnings.listen(runtime, onWarning);
            dispatcher.copyWeight(clone.runtime, runtime);
          }
        },
      });
      return copies;
    },
    disposeRuntime(runtime) {
      dispatcher.removeRuntime(runtime);
      warnings.remove(runtime);
      decisions.listen(runtime, undefined);
      outside.listen(runtime, undefined);
      secrets.delete(runtime);
      handlers.remove(runtime);
      return request('runtime.dispose', { runtime });
    },
    serve: (runtime, name, service) => dispatcher.serve(runtime, name, service),
    expectCalls: () => dispatcher.expectRuntimes(),
    dropCalls: (runtime) => dispatcher.abandonCalls(runtime),
    async watchPermissions(runtime, listener) {
      if (listener !== undefined) decisions.listen(runtime, listener);
      await request('permissions.watch', { runtime, on: listener !== undefined });
      if (listener === undefined) decisions.listen(runtime, undefined);
    },
    takeDecisions: (runtime, listener) => decisions.takeAll(runtime, listener),
    async watchOutside(runtime, listener) {
      if (listener !== undefined) outside.listen(runtime, listener);
      await request('outside.watch', { runtime, on: listener !== undefined });
      if (listener === undefined) outside.listen(runtime, undefined);
    },
    async watchMembers(network, listener) {
      if (listener !== undefined) members.listen(network, listener);
      await request('network.watch', { network, on: listener !== undefined });
      if (listener === undefined) members.listen(network, undefined);
    },
    takeMembers: (network, listener) => members.takeAll(network, listener),
    dropMembers: (network) => members.listen(network, undefined),
    watchSecrets(runtime, listener) {
      if (listener === undefined) secrets.delete(runtime);
      else secrets.set(runtime, listener);
    },
    watchHandlers: (runtime, listener) => handlers.watch(runtime, listener),
    takeOutside: (runtime, listener) => outside.takeAll(runtime, listener),
    start: (id, program, onOutput, onStarted) => request('process.start', program, { id, onOutput, onStarted }),
    evaluate: (id, snippet, onOutput) => request('runner.eval', snippet, { id, onOutput }),
    attach: (id, attach, onOutput, onStarted, onLost) => request('process.attach', attach, { id, onOutput, onStarted, onLost }),
    cancel: (id) => notify('cancel', id, {}),
    credit: (id, bytes) => notify('credit', id, { bytes }),
  };
  return { ...connection, ...replace?.(connection) };
}
