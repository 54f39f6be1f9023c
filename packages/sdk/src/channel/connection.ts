// A sidecar behind a channel. Every call is one request.

import { HostCallDispatcher } from '../host-calls/dispatcher.js';
import type { Channel } from './channel.js';
import {
  done,
  fileData,
  fileNames,
  fileStatus,
  outcome,
  processTable,
  resources,
  runnerCreated,
  runtimeCreated,
  runtimeUsage,
} from './checks.js';
import { Kind } from './messages.js';
import { connectNetwork } from './network.js';
import { openedOver } from './opened.js';
import type { ProcessConnection } from './sidecar-connection.js';
import { snapshotsOver } from './snapshots.js';
import { Warnings } from './warnings.js';

/**
 * Makes a connection. `process` has the pid and the end of the process, which the transport knows.
 */
export function connectChannel(channel: Channel, process: Pick<ProcessConnection, 'pid' | 'dispose'>): ProcessConnection {
  const { request, notify, nextId, idle, onPermissions } = channel;
  const hostCalls = new HostCallDispatcher({
    ok: (runtime, number, ok) => notify(Kind.hostResult, number, { runtime, ok }),
    failure: (runtime, number, code, message) => notify(Kind.hostResult, number, { runtime, failure: { code, message } }),
  });
  channel.listen(hostCalls);
  const warnings = new Warnings();
  channel.onWarning(({ runtime, ...warning }) => warnings.notify(runtime, warning));
  return {
    pid: process.pid,
    dispose: process.dispose,
    nextId,
    idle,
    network: connectNetwork(channel),
    createRuntime: (options, onWarning) =>
      request(Kind.runtimeCreate, nextId(), options, (body) => {
        const created = runtimeCreated(body);
        // Registered here, because the next frame may be a warning.
        warnings.listen(created.runtime, onWarning);
        return created;
      }),
    serve: (runtime, name, service) => hostCalls.serve(runtime, name, service),
    expectCalls: () => hostCalls.expectRuntimes(),
    dropCalls: (runtime) => hostCalls.abandonCalls(runtime),
    isOver: channel.isOver,
    setBindings: (bindings) => request(Kind.bindingsSet, nextId(), bindings, done),
    disposeRuntime: (runtime) => {
      hostCalls.removeRuntime(runtime);
      warnings.leave(runtime);
      onPermissions(runtime, undefined);
      return request(Kind.runtimeDispose, nextId(), { runtime }, done);
    },
    runtimeResources: (about) => request(Kind.runtimeResources, nextId(), about, runtimeUsage),
    createRunner: (options) => request(Kind.runnerCreate, nextId(), options, runnerCreated),
    disposeRunner: (runner) => request(Kind.runnerDispose, nextId(), { runner }, done),
    start: (id, program, onOutput, onStarted) => request(Kind.processStart, id, program, outcome, onOutput, onStarted),
    evaluate: (id, snippet, onOutput) => request(Kind.runnerEval, id, snippet, outcome, onOutput),
    cancel: (id) => notify(Kind.cancel, id, {}),
    credit: (id, bytes) => notify(Kind.credit, id, { bytes }),
    ping: () => request(Kind.ping, nextId(), {}, done),
    resources: () => request(Kind.resources, nextId(), {}, resources),
    readFile: (read) => request(Kind.fileRead, nextId(), read, fileData),
    writeFile: (write) => request(Kind.fileWrite, nextId(), write, done),
    listFiles: (list) => request(Kind.fileList, nextId(), list, fileNames),
    statFile: (stat) => request(Kind.fileStat, nextId(), stat, fileStatus),
    makeDirectory: (tree) => request(Kind.fileMkdir, nextId(), tree, done),
    removeFile: (tree) => request(Kind.fileRemove, nextId(), tree, done),
    writeProcess: (write) => request(Kind.processWrite, nextId(), write, done),
    signalProcess: (signal) => request(Kind.processSignal, nextId(), signal, done),
    listProcesses: (list) => request(Kind.processList, nextId(), list, processTable),
    opened: openedOver(channel),
    snapshots: snapshotsOver(channel, warnings),
    renameFile: (rename) => request(Kind.fileRename, nextId(), rename, done),
    setPermissions: (set) => request(Kind.permissionsSet, nextId(), set, done),
    watchPermissions: (runtime, listener) => {
      onPermissions(runtime, listener);
      return request(Kind.permissionsWatch, nextId(), { runtime, on: listener !== undefined }, done);
    },
  };
}
