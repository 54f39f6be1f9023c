// Generated from packages/sidecar/crates/protocol by `pnpm generate`. Do not edit.

import { done } from '../check.js';
import {
  changeList,
  fileAttributeList,
  fileData,
  fileHandle,
  fileNames,
  fileStatus,
  linkTarget,
  listener,
  listeners,
  networkCreated,
  networkFlowList,
  networkMember,
  networkMemberList,
  networkTaken,
  outcome,
  outsideFlowList,
  outsideTaken,
  outsideVerdict,
  outsideWalls,
  permissionsTaken,
  processTable,
  restoredPrograms,
  runnerCreated,
  runtimeCopies,
  runtimeCreated,
  runtimePaused,
  runtimeUsage,
  secretsKey,
  sidecarResources,
  snapshotDigest,
  snapshotEntries,
  snapshotEntry,
} from './decoders.js';
import type {
  BindingsSet,
  ChangeList,
  Credit,
  Empty,
  FileAttributeList,
  FileAttributeSet,
  FileAttributes,
  FileChanges,
  FileClose,
  FileData,
  FileDrain,
  FileHandle,
  FileLink,
  FileList,
  FileNames,
  FileOpen,
  FilePull,
  FilePush,
  FileRead,
  FileReadlink,
  FileRename,
  FileSet,
  FileStat,
  FileStatus,
  FileTree,
  FileWatch,
  FileWrite,
  HandlerRequest,
  HostResult,
  InNetwork,
  InRuntime,
  LinkTarget,
  Listener,
  Listeners,
  NetworkCreate,
  NetworkCreated,
  NetworkFlowList,
  NetworkJoin,
  NetworkLeave,
  NetworkMember,
  NetworkMemberList,
  NetworkRules,
  NetworkTake,
  NetworkTaken,
  NetworkTarget,
  NetworkWatch,
  Outcome,
  OutsideCheck,
  OutsideFlowList,
  OutsideRoots,
  OutsideTake,
  OutsideTaken,
  OutsideUpdate,
  OutsideVerdict,
  OutsideWalls,
  OutsideWatch,
  PermissionsSet,
  PermissionsTake,
  PermissionsTaken,
  PermissionsWatch,
  ProcessAttach,
  ProcessList,
  ProcessResize,
  ProcessSignal,
  ProcessStart,
  ProcessTable,
  ProcessWrite,
  RestoredPrograms,
  RunnerCreate,
  RunnerCreated,
  RunnerEval,
  RunnerOnly,
  RuntimeClone,
  RuntimeCopies,
  RuntimeCreate,
  RuntimeCreated,
  RuntimeDispose,
  RuntimePause,
  RuntimePaused,
  RuntimeResources,
  RuntimeResume,
  RuntimeRollback,
  RuntimeUsage,
  SdkHello,
  SecretsKey,
  SecretsPut,
  SidecarResources,
  SnapshotDigest,
  SnapshotEntries,
  SnapshotEntry,
  SnapshotExport,
  SnapshotImport,
  SnapshotList,
  SnapshotNamed,
  SnapshotTake,
  StreamLeave,
  StreamRead,
  StreamWrite,
} from './messages.js';

/** The largest frame, without its length, in bytes. */
export const MAX_FRAME_BYTES = 33554432;

/** The largest `data` of an `output` message, in bytes. */
export const MAX_OUTPUT_BYTES = 65536;

/** Bytes of one stream that may be sent before credit arrives. */
export const STREAM_WINDOW_BYTES = 262144;

/** Requests: the body that the SDK sends, and the reply. */
export interface Requests {
  /** Requests an empty reply, to check the connection. */
  ping: { body: Empty; reply: void };
  /** Returns the resources that all runtimes of the sidecar use together. */
  resources: { body: Empty; reply: SidecarResources };
  /** Reads a part of a file. */
  'file.read': { body: FileRead; reply: FileData };
  /** Writes a file. Directories above the file are created. */
  'file.write': { body: FileWrite; reply: void };
  /** Lists a directory. */
  'file.list': { body: FileList; reply: FileNames };
  /** Returns the attributes of a file. */
  'file.stat': { body: FileStat; reply: FileStatus };
  /** Creates a directory. */
  'file.mkdir': { body: FileTree; reply: void };
  /** Removes a file or a directory. */
  'file.remove': { body: FileTree; reply: void };
  /** Renames a file. */
  'file.rename': { body: FileRename; reply: void };
  /** Opens a file, or an archive of a path. */
  'file.open': { body: FileOpen; reply: FileHandle };
  /** Closes a file, an archive or a watch. */
  'file.close': { body: FileClose; reply: void };
  /** Reads from an open file or archive. For an archive, a reply without bytes means the end. */
  'file.pull': { body: FilePull; reply: FileData };
  /** Writes to an open file or archive. */
  'file.push': { body: FilePush; reply: void };
  /** Opens a watch of a file or a directory. */
  'file.watch': { body: FileWatch; reply: FileHandle };
  /** Waits for the next changes of a watch. */
  'file.changes': { body: FileChanges; reply: ChangeList };
  /** Returns the changes of a watch until now that `file.changes` has not returned. */
  'file.drain': { body: FileDrain; reply: ChangeList };
  /** Sets or removes a user attribute of a file. */
  'file.attribute.set': { body: FileAttributeSet; reply: void };
  /** Returns the user attributes of a file. */
  'file.attributes': { body: FileAttributes; reply: FileAttributeList };
  /** Sets the mode, the times and the owner of a file. Omitted fields stay unchanged. */
  'file.set': { body: FileSet; reply: void };
  /** Creates a symbolic or a hard link. */
  'file.link': { body: FileLink; reply: void };
  /** Reads a symbolic link. */
  'file.readlink': { body: FileReadlink; reply: LinkTarget };
  /** Replaces the bindings of a runtime. */
  'bindings.set': { body: BindingsSet; reply: void };
  /** Connects to a listener in the runtime. */
  'stream.open': { body: NetworkTarget; reply: void };
  /**
   * Lists the listeners that a connection to the target would reach. Without a target, lists all
   * listeners of the runtime.
   */
  'listener.list': { body: NetworkTarget; reply: Listeners };
  /** Waits until a program listens at the target. */
  'listener.wait': { body: NetworkTarget; reply: Listener };
  /**
   * Opens a connection to a request of `handler.wanted`. The bytes of both directions are a head
   * and a body. If the request has ended, the connection is closed.
   */
  'stream.handle': { body: HandlerRequest; reply: void };
  /** Changes the policy of a runtime. After the reply, no byte moves that the new policy denies. */
  'outside.update': { body: OutsideUpdate; reply: void };
  /** Judges a URL, without a lookup and without a connection. */
  'outside.check': { body: OutsideCheck; reply: OutsideVerdict };
  /** Lists the open connections of a runtime. */
  'outside.flows': { body: InRuntime; reply: OutsideFlowList };
  /** Starts or stops the recording of a runtime's outside events. */
  'outside.watch': { body: OutsideWatch; reply: void };
  /** Removes events from the queue of a runtime and returns the events. */
  'outside.take': { body: OutsideTake; reply: OutsideTaken };
  /**
   * Replaces the authorities that sessions of TLS trust by default, in all runtimes of the sidecar.
   * Without the request, sessions trust the authorities of the host machine's system.
   */
  'outside.roots': { body: OutsideRoots; reply: void };
  /** Returns the parts of the wall around the edge process, without a start of the process. */
  'outside.walls': { body: InRuntime; reply: OutsideWalls };
  /** Replaces the policy of a runtime, from the next system call on. */
  'permissions.set': { body: PermissionsSet; reply: void };
  /** Starts or stops the recording of a runtime's permission decisions. */
  'permissions.watch': { body: PermissionsWatch; reply: void };
  /**
   * Removes decisions from the queue of a runtime and returns the decisions. The runtime may be
   * paused.
   */
  'permissions.take': { body: PermissionsTake; reply: PermissionsTaken };
  /** Makes a network without members. */
  'network.create': { body: NetworkCreate; reply: NetworkCreated };
  /** Makes a runtime a member of a network. */
  'network.join': { body: NetworkJoin; reply: NetworkMember };
  /** Removes a member, and resets its connections of the network. */
  'network.leave': { body: NetworkLeave; reply: void };
  /** Replaces the rules. After the reply, no connection is open that the rules do not allow. */
  'network.rules': { body: NetworkRules; reply: void };
  /** Lists the members. */
  'network.members': { body: InNetwork; reply: NetworkMemberList };
  /** Lists the open connections. */
  'network.flows': { body: InNetwork; reply: NetworkFlowList };
  /** Removes all members, and the network. */
  'network.dispose': { body: InNetwork; reply: void };
  /** Starts or stops the recording of a network's events. */
  'network.watch': { body: NetworkWatch; reply: void };
  /** Removes events from the queue of a network and returns the events. */
  'network.take': { body: NetworkTake; reply: NetworkTaken };
  /** Runs a program to its end. */
  'process.start': { body: ProcessStart; reply: Outcome };
  /** Writes to the standard input of a live program. */
  'process.write': { body: ProcessWrite; reply: void };
  /** Sends a signal to a process. */
  'process.signal': { body: ProcessSignal; reply: void };
  /** Sets the size of the terminal of a program that was started with a terminal. */
  'process.resize': { body: ProcessResize; reply: void };
  /** Lists the processes of a runtime. */
  'process.list': { body: ProcessList; reply: ProcessTable };
  /**
   * Attaches to a root program. The reply follows when the program has ended. The first request for
   * a restored program receives the earlier output too. Every other request is a listener: its
   * output has a window of its own, `cancel` detaches the listener, and the reply has no output.
   * The end of a program can be requested for 30 seconds.
   */
  'process.attach': { body: ProcessAttach; reply: Outcome };
  /** Starts a resident runner. */
  'runner.create': { body: RunnerCreate; reply: RunnerCreated };
  /** Evaluates a snippet in a resident runner. */
  'runner.eval': { body: RunnerEval; reply: Outcome };
  /** Ends a resident runner. */
  'runner.dispose': { body: RunnerOnly; reply: void };
  /** Ends the running evaluation of a resident runner, or the callback that the runner runs. */
  'runner.interrupt': { body: RunnerOnly; reply: void };
  /** Makes a runtime, new or from a snapshot. */
  'runtime.create': { body: RuntimeCreate; reply: RuntimeCreated };
  /** Ends a runtime and every program in it. */
  'runtime.dispose': { body: RuntimeDispose; reply: void };
  /** Returns the present and the highest use of a runtime's limits. */
  'runtime.resources': { body: RuntimeResources; reply: RuntimeUsage };
  /** Requests a key for one message of values. */
  'secrets.key': { body: InRuntime; reply: SecretsKey };
  /** Passes sealed values to the edge process. */
  'secrets.put': { body: SecretsPut; reply: void };
  /** Takes a snapshot of a runtime. */
  'snapshot.take': { body: SnapshotTake; reply: SnapshotEntry };
  /** Puts a snapshot's state in place of the present state of a runtime. */
  'runtime.rollback': { body: RuntimeRollback; reply: RestoredPrograms };
  /**
   * Makes clones of a runtime. If one clone fails and `settle` is not true, the request fails and
   * no clone is left.
   */
  'runtime.clone': { body: RuntimeClone; reply: RuntimeCopies };
  /** Writes a runtime to disk and frees its memory, or freezes the runtime in memory. */
  'runtime.pause': { body: RuntimePause; reply: RuntimePaused };
  /** Restores a paused runtime under its id. */
  'runtime.resume': { body: RuntimeResume; reply: RestoredPrograms };
  /** Lists the snapshots of a tenant. */
  'snapshot.list': { body: SnapshotList; reply: SnapshotEntries };
  /** Returns the entry of a snapshot. */
  'snapshot.get': { body: SnapshotNamed; reply: SnapshotEntry };
  /** Deletes a snapshot. */
  'snapshot.delete': { body: SnapshotNamed; reply: void };
  /** Writes a snapshot to a file of the host machine. */
  'snapshot.export': { body: SnapshotExport; reply: void };
  /** Reads a snapshot from a file of the host machine. */
  'snapshot.import': { body: SnapshotImport; reply: SnapshotEntry };
  /** Writes a snapshot that is in memory to disk too. */
  'snapshot.persist': { body: SnapshotNamed; reply: void };
  /** Returns the hash of a snapshot's content. */
  'snapshot.digest': { body: SnapshotNamed; reply: SnapshotDigest };
}

/** Notices: messages of the SDK without a reply. */
export interface Notices {
  /** The SDK's version. The first message of the SDK. */
  hello: SdkHello;
  /** Reports bytes of a request's output that the reader has consumed. */
  credit: Credit;
  /** Stops a request. The reply to the request still follows. */
  cancel: Empty;
  /**
   * The result of a host call. The SDK sends at most one result for each call, also after
   * `host.cancel`.
   */
  'host.result': HostResult;
  /** Sends bytes over a connection. */
  'stream.data': StreamWrite;
  /** Reports bytes of a connection that the reader has consumed. */
  'stream.credit': StreamRead;
  /** Ends the SDK's direction of a connection. */
  'stream.end': InRuntime;
  /** Closes a connection. */
  'stream.close': StreamLeave;
  /**
   * Cancels the `listener.wait` with this id. The reply to the wait is the error `ERR_CANCELED`.
   */
  'listener.cancel': InRuntime;
}

/** The number of a request's kind, and the decoder of its reply. */
interface RequestRow<R> {
  readonly kind: number;
  readonly reply: (value: unknown, at: string) => R;
}

/** All requests. */
export const REQUESTS: { readonly [N in keyof Requests]: RequestRow<Requests[N]['reply']> } = {
  ping: { kind: 10, reply: done },
  resources: { kind: 17, reply: sidecarResources },
  'file.read': { kind: 18, reply: fileData },
  'file.write': { kind: 19, reply: done },
  'file.list': { kind: 20, reply: fileNames },
  'file.stat': { kind: 21, reply: fileStatus },
  'file.mkdir': { kind: 22, reply: done },
  'file.remove': { kind: 23, reply: done },
  'file.rename': { kind: 24, reply: done },
  'file.open': { kind: 50, reply: fileHandle },
  'file.close': { kind: 51, reply: done },
  'file.pull': { kind: 52, reply: fileData },
  'file.push': { kind: 53, reply: done },
  'file.watch': { kind: 54, reply: fileHandle },
  'file.changes': { kind: 55, reply: changeList },
  'file.drain': { kind: 59, reply: changeList },
  'file.attribute.set': { kind: 120, reply: done },
  'file.attributes': { kind: 121, reply: fileAttributeList },
  'file.set': { kind: 56, reply: done },
  'file.link': { kind: 57, reply: done },
  'file.readlink': { kind: 58, reply: linkTarget },
  'bindings.set': { kind: 43, reply: done },
  'stream.open': { kind: 30, reply: done },
  'listener.list': { kind: 35, reply: listeners },
  'listener.wait': { kind: 36, reply: listener },
  'stream.handle': { kind: 110, reply: done },
  'outside.update': { kind: 90, reply: done },
  'outside.check': { kind: 91, reply: outsideVerdict },
  'outside.flows': { kind: 92, reply: outsideFlowList },
  'outside.watch': { kind: 93, reply: done },
  'outside.take': { kind: 95, reply: outsideTaken },
  'outside.roots': { kind: 99, reply: done },
  'outside.walls': { kind: 112, reply: outsideWalls },
  'permissions.set': { kind: 60, reply: done },
  'permissions.watch': { kind: 61, reply: done },
  'permissions.take': { kind: 63, reply: permissionsTaken },
  'network.create': { kind: 100, reply: networkCreated },
  'network.join': { kind: 101, reply: networkMember },
  'network.leave': { kind: 102, reply: done },
  'network.rules': { kind: 103, reply: done },
  'network.members': { kind: 104, reply: networkMemberList },
  'network.flows': { kind: 105, reply: networkFlowList },
  'network.dispose': { kind: 106, reply: done },
  'network.watch': { kind: 107, reply: done },
  'network.take': { kind: 109, reply: networkTaken },
  'process.start': { kind: 13, reply: outcome },
  'process.write': { kind: 25, reply: done },
  'process.signal': { kind: 26, reply: done },
  'process.resize': { kind: 28, reply: done },
  'process.list': { kind: 27, reply: processTable },
  'process.attach': { kind: 80, reply: outcome },
  'runner.create': { kind: 14, reply: runnerCreated },
  'runner.eval': { kind: 15, reply: outcome },
  'runner.dispose': { kind: 16, reply: done },
  'runner.interrupt': { kind: 48, reply: done },
  'runtime.create': { kind: 11, reply: runtimeCreated },
  'runtime.dispose': { kind: 12, reply: done },
  'runtime.resources': { kind: 65, reply: runtimeUsage },
  'secrets.key': { kind: 96, reply: secretsKey },
  'secrets.put': { kind: 97, reply: done },
  'snapshot.take': { kind: 70, reply: snapshotEntry },
  'runtime.rollback': { kind: 71, reply: restoredPrograms },
  'runtime.clone': { kind: 72, reply: runtimeCopies },
  'runtime.pause': { kind: 73, reply: runtimePaused },
  'runtime.resume': { kind: 74, reply: restoredPrograms },
  'snapshot.list': { kind: 75, reply: snapshotEntries },
  'snapshot.get': { kind: 76, reply: snapshotEntry },
  'snapshot.delete': { kind: 77, reply: done },
  'snapshot.export': { kind: 78, reply: done },
  'snapshot.import': { kind: 79, reply: snapshotEntry },
  'snapshot.persist': { kind: 81, reply: done },
  'snapshot.digest': { kind: 82, reply: snapshotDigest },
};

/** The number of each notice. */
export const NOTICES: { readonly [N in keyof Notices]: number } = {
  hello: 1,
  credit: 5,
  cancel: 6,
  'host.result': 41,
  'stream.data': 31,
  'stream.credit': 32,
  'stream.end': 33,
  'stream.close': 34,
  'listener.cancel': 37,
};

/** The numbers of the sidecar's messages. */
export const EVENTS = {
  hello: 1,
  reply: 2,
  error: 3,
  output: 4,
  started: 7,
  lost: 8,
  'stream.data': 31,
  'stream.credit': 32,
  'stream.end': 33,
  'stream.close': 34,
  'host.call': 40,
  'host.cancel': 42,
  'permissions.pending': 62,
  'limit.warning': 64,
  'outside.pending': 94,
  'secrets.wanted': 98,
  'network.pending': 108,
  'handler.wanted': 111,
} as const;
