// Generated from packages/sidecar/crates/protocol by `pnpm generate`. Do not edit.

import {
  binary,
  binaryMap,
  details,
  fields,
  flag,
  list,
  listOf,
  natural,
  naturals,
  oneOf,
  text,
  textMap,
  texts,
  whole,
} from '../check.js';
import type {
  ChangeList,
  Credit,
  DamagedSnapshot,
  Failure,
  FileAttributeList,
  FileData,
  FileHandle,
  FileNames,
  FileStatus,
  HandlerRequest,
  HostCall,
  HostCancel,
  InNetwork,
  InRuntime,
  LimitWarning,
  LinkTarget,
  Listener,
  Listeners,
  Lost,
  NetworkCreated,
  NetworkFlow,
  NetworkFlowList,
  NetworkMember,
  NetworkMemberEvent,
  NetworkMemberList,
  NetworkTaken,
  Outcome,
  Output,
  OutsideEvent,
  OutsideFlow,
  OutsideFlowList,
  OutsidePending,
  OutsideTaken,
  OutsideVerdict,
  OutsideWalls,
  PermissionEvent,
  PermissionRule,
  PermissionScope,
  Permissions,
  PermissionsPending,
  PermissionsTaken,
  ProcessTable,
  Restored,
  RestoredProgram,
  RestoredPrograms,
  RestoredSecret,
  RunnerCreated,
  RuntimeCopies,
  RuntimeCopy,
  RuntimeCreated,
  RuntimePaused,
  RuntimeUsage,
  SecretsKey,
  SidecarHello,
  SidecarResources,
  SnapshotDigest,
  SnapshotEntries,
  SnapshotEntry,
  Started,
  StreamClosed,
  StreamData,
  Timings,
  WallPart,
} from './messages.js';

/** Checks a `SidecarHello`. */
export function sidecarHello(value: unknown, at: string): SidecarHello {
  const map = fields(value, at);
  text(map, at, 'version');
  natural(map, at, 'pid');
  text(map, at, 'image');
  natural(map, at, 'loadNs');
  list(map, at, 'walls', wallPart);
  return map as unknown as SidecarHello;
}

/** Checks a `WallPart`. */
export function wallPart(value: unknown, at: string): WallPart {
  const map = fields(value, at);
  text(map, at, 'name');
  if (map['missing'] !== undefined) text(map, at, 'missing');
  return map as unknown as WallPart;
}

/** Checks a `Credit`. */
export function credit(value: unknown, at: string): Credit {
  const map = fields(value, at);
  natural(map, at, 'bytes');
  return map as unknown as Credit;
}

/** Checks a `Failure`. */
export function failure(value: unknown, at: string): Failure {
  const map = fields(value, at);
  text(map, at, 'code');
  text(map, at, 'message');
  details(map, at, 'details');
  return map as unknown as Failure;
}

/** Checks a `Output`. */
export function output(value: unknown, at: string): Output {
  const map = fields(value, at);
  natural(map, at, 'fd');
  binary(map, at, 'data');
  return map as unknown as Output;
}

/** Checks a `SidecarResources`. */
export function sidecarResources(value: unknown, at: string): SidecarResources {
  const map = fields(value, at);
  natural(map, at, 'runtimes');
  natural(map, at, 'processes');
  natural(map, at, 'warmSlots');
  natural(map, at, 'memoryBytes');
  natural(map, at, 'bufferedBytes');
  return map as unknown as SidecarResources;
}

/** Checks a `FileData`. */
export function fileData(value: unknown, at: string): FileData {
  const map = fields(value, at);
  binary(map, at, 'data');
  natural(map, at, 'size');
  return map as unknown as FileData;
}

const FILE_TYPE: ReadonlySet<unknown> = new Set(['file', 'directory', 'symlink', 'other']);

/** Checks a `FileNames`. */
export function fileNames(value: unknown, at: string): FileNames {
  const map = fields(value, at);
  texts(map, at, 'names');
  listOf(map, at, 'types', FILE_TYPE);
  return map as unknown as FileNames;
}

/** Checks a `FileStatus`. */
export function fileStatus(value: unknown, at: string): FileStatus {
  const map = fields(value, at);
  oneOf(map, at, 'type', FILE_TYPE);
  natural(map, at, 'mode');
  natural(map, at, 'size');
  natural(map, at, 'ino');
  natural(map, at, 'nlink');
  natural(map, at, 'uid');
  natural(map, at, 'gid');
  whole(map, at, 'atimeUs');
  whole(map, at, 'mtimeUs');
  whole(map, at, 'ctimeUs');
  whole(map, at, 'birthtimeUs');
  return map as unknown as FileStatus;
}

/** Checks a `FileHandle`. */
export function fileHandle(value: unknown, at: string): FileHandle {
  const map = fields(value, at);
  natural(map, at, 'handle');
  natural(map, at, 'size');
  flag(map, at, 'directory');
  return map as unknown as FileHandle;
}

const CHANGE_TYPE: ReadonlySet<unknown> = new Set(['rename', 'change', 'create', 'remove', 'write', 'chmod']);

/** Checks a `ChangeList`. */
export function changeList(value: unknown, at: string): ChangeList {
  const map = fields(value, at);
  texts(map, at, 'names');
  listOf(map, at, 'types', CHANGE_TYPE);
  if (map['targets'] !== undefined) texts(map, at, 'targets');
  flag(map, at, 'overflow');
  flag(map, at, 'ended');
  return map as unknown as ChangeList;
}

/** Checks a `FileAttributeList`. */
export function fileAttributeList(value: unknown, at: string): FileAttributeList {
  const map = fields(value, at);
  binaryMap(map, at, 'attributes');
  return map as unknown as FileAttributeList;
}

/** Checks a `LinkTarget`. */
export function linkTarget(value: unknown, at: string): LinkTarget {
  const map = fields(value, at);
  text(map, at, 'target');
  return map as unknown as LinkTarget;
}

/** Checks a `HostCall`. */
export function hostCall(value: unknown, at: string): HostCall {
  const map = fields(value, at);
  natural(map, at, 'runtime');
  natural(map, at, 'pid');
  text(map, at, 'service');
  text(map, at, 'name');
  binary(map, at, 'input');
  return map as unknown as HostCall;
}

/** Checks a `HostCancel`. */
export function hostCancel(value: unknown, at: string): HostCancel {
  const map = fields(value, at);
  natural(map, at, 'runtime');
  return map as unknown as HostCancel;
}

/** Checks a `HandlerRequest`. */
export function handlerRequest(value: unknown, at: string): HandlerRequest {
  const map = fields(value, at);
  natural(map, at, 'runtime');
  natural(map, at, 'number');
  return map as unknown as HandlerRequest;
}

/** Checks a `InRuntime`. */
export function inRuntime(value: unknown, at: string): InRuntime {
  const map = fields(value, at);
  natural(map, at, 'runtime');
  return map as unknown as InRuntime;
}

/** Checks a `StreamData`. */
export function streamData(value: unknown, at: string): StreamData {
  const map = fields(value, at);
  binary(map, at, 'data');
  return map as unknown as StreamData;
}

/** Checks a `StreamClosed`. */
export function streamClosed(value: unknown, at: string): StreamClosed {
  const map = fields(value, at);
  if (map['failure'] !== undefined) failure(map['failure'], `${at}.failure`);
  return map as unknown as StreamClosed;
}

/** Checks a `Listener`. */
export function listener(value: unknown, at: string): Listener {
  const map = fields(value, at);
  natural(map, at, 'pid');
  if (map['host'] !== undefined) text(map, at, 'host');
  if (map['port'] !== undefined) natural(map, at, 'port');
  if (map['path'] !== undefined) text(map, at, 'path');
  return map as unknown as Listener;
}

/** Checks a `Listeners`. */
export function listeners(value: unknown, at: string): Listeners {
  const map = fields(value, at);
  list(map, at, 'listeners', listener);
  return map as unknown as Listeners;
}

const OUTSIDE_PROTOCOL: ReadonlySet<unknown> = new Set(['tcp', 'udp']);

/** Checks a `OutsideVerdict`. */
export function outsideVerdict(value: unknown, at: string): OutsideVerdict {
  const map = fields(value, at);
  flag(map, at, 'allowed');
  if (map['reason'] !== undefined) text(map, at, 'reason');
  if (map['rule'] !== undefined) text(map, at, 'rule');
  if (map['pattern'] !== undefined) text(map, at, 'pattern');
  return map as unknown as OutsideVerdict;
}

/** Checks a `OutsideFlowList`. */
export function outsideFlowList(value: unknown, at: string): OutsideFlowList {
  const map = fields(value, at);
  list(map, at, 'flows', outsideFlow);
  return map as unknown as OutsideFlowList;
}

/** Checks a `OutsideFlow`. */
export function outsideFlow(value: unknown, at: string): OutsideFlow {
  const map = fields(value, at);
  oneOf(map, at, 'protocol', OUTSIDE_PROTOCOL);
  if (map['host'] !== undefined) text(map, at, 'host');
  text(map, at, 'address');
  natural(map, at, 'port');
  if (map['rule'] !== undefined) text(map, at, 'rule');
  if (map['pattern'] !== undefined) text(map, at, 'pattern');
  natural(map, at, 'sent');
  natural(map, at, 'received');
  if (map['dropped'] !== undefined) natural(map, at, 'dropped');
  natural(map, at, 'sinceUs');
  return map as unknown as OutsideFlow;
}

/** Checks a `OutsidePending`. */
export function outsidePending(value: unknown, at: string): OutsidePending {
  const map = fields(value, at);
  natural(map, at, 'runtime');
  return map as unknown as OutsidePending;
}

/** Checks a `OutsideWalls`. */
export function outsideWalls(value: unknown, at: string): OutsideWalls {
  const map = fields(value, at);
  list(map, at, 'walls', wallPart);
  return map as unknown as OutsideWalls;
}

/** Checks a `OutsideTaken`. */
export function outsideTaken(value: unknown, at: string): OutsideTaken {
  const map = fields(value, at);
  list(map, at, 'events', outsideEvent);
  natural(map, at, 'lost');
  return map as unknown as OutsideTaken;
}

const OUTSIDE_EVENT_TYPE: ReadonlySet<unknown> = new Set(['open', 'close', 'denied', 'dns', 'limit', 'request']);

/** Checks a `OutsideEvent`. */
export function outsideEvent(value: unknown, at: string): OutsideEvent {
  const map = fields(value, at);
  oneOf(map, at, 'kind', OUTSIDE_EVENT_TYPE);
  natural(map, at, 'timeUs');
  if (map['protocol'] !== undefined) oneOf(map, at, 'protocol', OUTSIDE_PROTOCOL);
  if (map['host'] !== undefined) text(map, at, 'host');
  if (map['address'] !== undefined) text(map, at, 'address');
  if (map['port'] !== undefined) natural(map, at, 'port');
  if (map['addresses'] !== undefined) texts(map, at, 'addresses');
  if (map['rule'] !== undefined) text(map, at, 'rule');
  if (map['pattern'] !== undefined) text(map, at, 'pattern');
  if (map['reason'] !== undefined) text(map, at, 'reason');
  if (map['limit'] !== undefined) text(map, at, 'limit');
  if (map['sent'] !== undefined) natural(map, at, 'sent');
  if (map['received'] !== undefined) natural(map, at, 'received');
  if (map['dropped'] !== undefined) natural(map, at, 'dropped');
  if (map['durationUs'] !== undefined) natural(map, at, 'durationUs');
  if (map['method'] !== undefined) text(map, at, 'method');
  if (map['path'] !== undefined) text(map, at, 'path');
  if (map['status'] !== undefined) natural(map, at, 'status');
  if (map['secrets'] !== undefined) texts(map, at, 'secrets');
  if (map['placeholders'] !== undefined) texts(map, at, 'placeholders');
  return map as unknown as OutsideEvent;
}

const PERMISSION_MODE: ReadonlySet<unknown> = new Set(['allow', 'deny']);

/** Checks a `Permissions`. */
export function permissions(value: unknown, at: string): Permissions {
  const map = fields(value, at);
  if (map['fs'] !== undefined) permissionScope(map['fs'], `${at}.fs`);
  if (map['network'] !== undefined) permissionScope(map['network'], `${at}.network`);
  if (map['childProcess'] !== undefined) permissionScope(map['childProcess'], `${at}.childProcess`);
  if (map['process'] !== undefined) permissionScope(map['process'], `${at}.process`);
  if (map['env'] !== undefined) permissionScope(map['env'], `${at}.env`);
  if (map['binding'] !== undefined) permissionScope(map['binding'], `${at}.binding`);
  return map as unknown as Permissions;
}

/** Checks a `PermissionScope`. */
export function permissionScope(value: unknown, at: string): PermissionScope {
  const map = fields(value, at);
  oneOf(map, at, 'default', PERMISSION_MODE);
  if (map['rules'] !== undefined) list(map, at, 'rules', permissionRule);
  return map as unknown as PermissionScope;
}

/** Checks a `PermissionRule`. */
export function permissionRule(value: unknown, at: string): PermissionRule {
  const map = fields(value, at);
  oneOf(map, at, 'mode', PERMISSION_MODE);
  if (map['operations'] !== undefined) texts(map, at, 'operations');
  if (map['patterns'] !== undefined) texts(map, at, 'patterns');
  return map as unknown as PermissionRule;
}

/** Checks a `PermissionsPending`. */
export function permissionsPending(value: unknown, at: string): PermissionsPending {
  const map = fields(value, at);
  natural(map, at, 'runtime');
  return map as unknown as PermissionsPending;
}

/** Checks a `PermissionsTaken`. */
export function permissionsTaken(value: unknown, at: string): PermissionsTaken {
  const map = fields(value, at);
  list(map, at, 'events', permissionEvent);
  natural(map, at, 'lost');
  return map as unknown as PermissionsTaken;
}

/** Checks a `PermissionEvent`. */
export function permissionEvent(value: unknown, at: string): PermissionEvent {
  const map = fields(value, at);
  text(map, at, 'scope');
  text(map, at, 'operation');
  text(map, at, 'resource');
  oneOf(map, at, 'decision', PERMISSION_MODE);
  if (map['rule'] !== undefined) natural(map, at, 'rule');
  if (map['pattern'] !== undefined) text(map, at, 'pattern');
  if (map['reason'] !== undefined) text(map, at, 'reason');
  if (map['pid'] !== undefined) natural(map, at, 'pid');
  natural(map, at, 'timeUs');
  return map as unknown as PermissionEvent;
}

/** Checks a `NetworkCreated`. */
export function networkCreated(value: unknown, at: string): NetworkCreated {
  const map = fields(value, at);
  natural(map, at, 'network');
  return map as unknown as NetworkCreated;
}

/** Checks a `InNetwork`. */
export function inNetwork(value: unknown, at: string): InNetwork {
  const map = fields(value, at);
  natural(map, at, 'network');
  return map as unknown as InNetwork;
}

/** Checks a `NetworkMember`. */
export function networkMember(value: unknown, at: string): NetworkMember {
  const map = fields(value, at);
  text(map, at, 'name');
  texts(map, at, 'tags');
  text(map, at, 'v4');
  text(map, at, 'v6');
  return map as unknown as NetworkMember;
}

/** Checks a `NetworkMemberList`. */
export function networkMemberList(value: unknown, at: string): NetworkMemberList {
  const map = fields(value, at);
  list(map, at, 'members', networkMember);
  return map as unknown as NetworkMemberList;
}

/** Checks a `NetworkFlow`. */
export function networkFlow(value: unknown, at: string): NetworkFlow {
  const map = fields(value, at);
  text(map, at, 'from');
  text(map, at, 'to');
  natural(map, at, 'port');
  natural(map, at, 'sent');
  natural(map, at, 'received');
  natural(map, at, 'sinceUs');
  return map as unknown as NetworkFlow;
}

/** Checks a `NetworkFlowList`. */
export function networkFlowList(value: unknown, at: string): NetworkFlowList {
  const map = fields(value, at);
  list(map, at, 'flows', networkFlow);
  return map as unknown as NetworkFlowList;
}

/** Checks a `NetworkTaken`. */
export function networkTaken(value: unknown, at: string): NetworkTaken {
  const map = fields(value, at);
  list(map, at, 'events', networkMemberEvent);
  natural(map, at, 'lost');
  return map as unknown as NetworkTaken;
}

const NETWORK_MEMBER_EVENT_TYPE: ReadonlySet<unknown> = new Set(['open', 'close', 'denied']);

/** Checks a `NetworkMemberEvent`. */
export function networkMemberEvent(value: unknown, at: string): NetworkMemberEvent {
  const map = fields(value, at);
  oneOf(map, at, 'kind', NETWORK_MEMBER_EVENT_TYPE);
  natural(map, at, 'timeUs');
  text(map, at, 'from');
  text(map, at, 'to');
  natural(map, at, 'port');
  if (map['sent'] !== undefined) natural(map, at, 'sent');
  if (map['received'] !== undefined) natural(map, at, 'received');
  if (map['durationUs'] !== undefined) natural(map, at, 'durationUs');
  if (map['reason'] !== undefined) text(map, at, 'reason');
  return map as unknown as NetworkMemberEvent;
}

/** Checks a `Timings`. */
export function timings(value: unknown, at: string): Timings {
  const map = fields(value, at);
  natural(map, at, 'memoryMapNs');
  natural(map, at, 'instantiateNs');
  natural(map, at, 'guestStartNs');
  natural(map, at, 'guestRunNs');
  return map as unknown as Timings;
}

/** Checks a `Outcome`. */
export function outcome(value: unknown, at: string): Outcome {
  const map = fields(value, at);
  whole(map, at, 'exitCode');
  if (map['signal'] !== undefined) natural(map, at, 'signal');
  binary(map, at, 'stdout');
  binary(map, at, 'stderr');
  if (map['value'] !== undefined) text(map, at, 'value');
  if (map['failure'] !== undefined) failure(map['failure'], `${at}.failure`);
  if (map['stdoutTruncated'] !== undefined) flag(map, at, 'stdoutTruncated');
  if (map['stderrTruncated'] !== undefined) flag(map, at, 'stderrTruncated');
  timings(map['timings'], `${at}.timings`);
  return map as unknown as Outcome;
}

/** Checks a `Started`. */
export function started(value: unknown, at: string): Started {
  const map = fields(value, at);
  natural(map, at, 'pid');
  if (map['earlier'] !== undefined) natural(map, at, 'earlier');
  if (map['listener'] !== undefined) flag(map, at, 'listener');
  return map as unknown as Started;
}

/** Checks a `Lost`. */
export function lost(value: unknown, at: string): Lost {
  const map = fields(value, at);
  natural(map, at, 'bytes');
  return map as unknown as Lost;
}

/** Checks a `ProcessTable`. */
export function processTable(value: unknown, at: string): ProcessTable {
  const map = fields(value, at);
  naturals(map, at, 'pids');
  naturals(map, at, 'ppids');
  naturals(map, at, 'groups');
  texts(map, at, 'commands');
  return map as unknown as ProcessTable;
}

/** Checks a `RestoredProgram`. */
export function restoredProgram(value: unknown, at: string): RestoredProgram {
  const map = fields(value, at);
  natural(map, at, 'pid');
  if (map['runner'] !== undefined) natural(map, at, 'runner');
  return map as unknown as RestoredProgram;
}

/** Checks a `RunnerCreated`. */
export function runnerCreated(value: unknown, at: string): RunnerCreated {
  const map = fields(value, at);
  natural(map, at, 'runner');
  natural(map, at, 'pid');
  timings(map['timings'], `${at}.timings`);
  return map as unknown as RunnerCreated;
}

/** Checks a `RuntimeCreated`. */
export function runtimeCreated(value: unknown, at: string): RuntimeCreated {
  const map = fields(value, at);
  natural(map, at, 'runtime');
  natural(map, at, 'configureNs');
  if (map['restored'] !== undefined) restored(map['restored'], `${at}.restored`);
  return map as unknown as RuntimeCreated;
}

/** Checks a `Restored`. */
export function restored(value: unknown, at: string): Restored {
  const map = fields(value, at);
  list(map, at, 'programs', restoredProgram);
  text(map, at, 'cwd');
  permissions(map['permissions'], `${at}.permissions`);
  if (map['secrets'] !== undefined) list(map, at, 'secrets', restoredSecret);
  return map as unknown as Restored;
}

/** Checks a `RestoredSecret`. */
export function restoredSecret(value: unknown, at: string): RestoredSecret {
  const map = fields(value, at);
  text(map, at, 'name');
  texts(map, at, 'hosts');
  return map as unknown as RestoredSecret;
}

/** Checks a `RuntimeUsage`. */
export function runtimeUsage(value: unknown, at: string): RuntimeUsage {
  const map = fields(value, at);
  texts(map, at, 'limits');
  naturals(map, at, 'used');
  naturals(map, at, 'high');
  naturals(map, at, 'max');
  natural(map, at, 'descriptors');
  natural(map, at, 'operations');
  natural(map, at, 'timers');
  natural(map, at, 'cpuMs');
  natural(map, at, 'bufferedBytes');
  return map as unknown as RuntimeUsage;
}

/** Checks a `LimitWarning`. */
export function limitWarning(value: unknown, at: string): LimitWarning {
  const map = fields(value, at);
  natural(map, at, 'runtime');
  text(map, at, 'limit');
  natural(map, at, 'used');
  natural(map, at, 'max');
  if (map['pid'] !== undefined) natural(map, at, 'pid');
  return map as unknown as LimitWarning;
}

/** Checks a `SecretsKey`. */
export function secretsKey(value: unknown, at: string): SecretsKey {
  const map = fields(value, at);
  if (map['key'] !== undefined) binary(map, at, 'key');
  return map as unknown as SecretsKey;
}

/** Checks a `RestoredPrograms`. */
export function restoredPrograms(value: unknown, at: string): RestoredPrograms {
  const map = fields(value, at);
  list(map, at, 'programs', restoredProgram);
  return map as unknown as RestoredPrograms;
}

/** Checks a `RuntimeCopy`. */
export function runtimeCopy(value: unknown, at: string): RuntimeCopy {
  const map = fields(value, at);
  if (map['runtime'] !== undefined) natural(map, at, 'runtime');
  list(map, at, 'programs', restoredProgram);
  if (map['failure'] !== undefined) failure(map['failure'], `${at}.failure`);
  return map as unknown as RuntimeCopy;
}

/** Checks a `RuntimeCopies`. */
export function runtimeCopies(value: unknown, at: string): RuntimeCopies {
  const map = fields(value, at);
  list(map, at, 'copies', runtimeCopy);
  return map as unknown as RuntimeCopies;
}

/** Checks a `RuntimePaused`. */
export function runtimePaused(value: unknown, at: string): RuntimePaused {
  const map = fields(value, at);
  if (map['snapshot'] !== undefined) snapshotEntry(map['snapshot'], `${at}.snapshot`);
  return map as unknown as RuntimePaused;
}

const STORED: ReadonlySet<unknown> = new Set(['memory', 'disk', 'both']);

/** Checks a `SnapshotEntry`. */
export function snapshotEntry(value: unknown, at: string): SnapshotEntry {
  const map = fields(value, at);
  text(map, at, 'id');
  if (map['parent'] !== undefined) text(map, at, 'parent');
  if (map['name'] !== undefined) text(map, at, 'name');
  textMap(map, at, 'labels');
  text(map, at, 'tenant');
  natural(map, at, 'createdMs');
  text(map, at, 'image');
  natural(map, at, 'size');
  natural(map, at, 'programs');
  oneOf(map, at, 'stored', STORED);
  return map as unknown as SnapshotEntry;
}

/** Checks a `SnapshotEntries`. */
export function snapshotEntries(value: unknown, at: string): SnapshotEntries {
  const map = fields(value, at);
  list(map, at, 'snapshots', snapshotEntry);
  list(map, at, 'damaged', damagedSnapshot);
  if (map['more'] !== undefined) flag(map, at, 'more');
  return map as unknown as SnapshotEntries;
}

/** Checks a `DamagedSnapshot`. */
export function damagedSnapshot(value: unknown, at: string): DamagedSnapshot {
  const map = fields(value, at);
  text(map, at, 'path');
  text(map, at, 'reason');
  return map as unknown as DamagedSnapshot;
}

/** Checks a `SnapshotDigest`. */
export function snapshotDigest(value: unknown, at: string): SnapshotDigest {
  const map = fields(value, at);
  text(map, at, 'digest');
  return map as unknown as SnapshotDigest;
}
