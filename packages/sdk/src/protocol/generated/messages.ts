// Generated from packages/sidecar/crates/protocol by `pnpm generate`. Do not edit.

declare const brand: unique symbol;

/** An app file system. The SDK assigns the number. */
export type FileSystemId = number & { readonly [brand]: 'FileSystemId' };

/** A file, an archive or a watch that the embedder has open in a runtime. */
export type HandleId = number & { readonly [brand]: 'HandleId' };

/** A private network of a session. The sidecar assigns the number. */
export type NetworkId = number & { readonly [brand]: 'NetworkId' };

/** An entry of a runtime's process table. */
export type Pid = number & { readonly [brand]: 'Pid' };

/** A resident runner of a session. The sidecar assigns the number. */
export type RunnerId = number & { readonly [brand]: 'RunnerId' };

/**
 * A runtime of a session. The sidecar assigns the number and never reuses it for another runtime.
 */
export type RuntimeId = number & { readonly [brand]: 'RuntimeId' };

/** A request of the SDK. The SDK assigns the number. */
export type RequestId = number & { readonly [brand]: 'RequestId' };

/** `hello` of the SDK. */
export interface SdkHello {
  /** The SDK's version. */
  version: string;
}

/** `hello` of the sidecar. */
export interface SidecarHello {
  /** The sidecar's version. */
  version: string;
  /** The pid of the sidecar's process. In embedded mode, the pid of the app's process. */
  pid: number;
  /** The content hash of the guest image. */
  image: string;
  /** Nanoseconds that loading the precompiled module took. */
  loadNs: number;
  /** The parts of the wall around the process. Empty in embedded mode, and if the wall is off. */
  walls: WallPart[];
}

/** A part of the wall around the sidecar's process. */
export interface WallPart {
  /** The name of the part. */
  name: string;
  /** The reason why the part is missing. Omitted if the part is enforced. */
  missing?: string | undefined;
}

/** `credit`, and `stream.credit` of the sidecar. */
export interface Credit {
  /** The number of bytes that the reader has consumed. */
  bytes: number;
}

/** A body without fields. */
export type Empty = Record<string, never>;

/** `error`, and the failure inside other messages. */
export interface Failure {
  /** The stable code. */
  code: string;
  /** A sentence for people. Programs must not parse the sentence. */
  message: string;
  /** The facts of the error, by name. */
  details: Record<string, unknown>;
}

/** `output`. */
export interface Output {
  /** The descriptor: 1 is stdout, 2 is stderr. */
  fd: number;
  /** The bytes, at most `MAX_OUTPUT_BYTES`. */
  data: Uint8Array;
}

/** The reply to `resources`: the resources that all runtimes of the sidecar use together. */
export interface SidecarResources {
  /** The number of live runtimes. */
  runtimes: number;
  /** The number of live guest processes, resident runners included. */
  processes: number;
  /** The number of clean slots that are kept ready for the next processes. */
  warmSlots: number;
  /** Bytes of linear memory that the live processes started with. Growth is not included. */
  memoryBytes: number;
  /** Bytes of output that wait for their reader. */
  bufferedBytes: number;
}

/** A user and a group. */
export interface Owner {
  /** The number of the user. 0 is `root`, and 1000 is `user`. */
  uid: number;
  /** The number of the group. */
  gid: number;
}

/** `file.read`. */
export interface FileRead {
  /** The runtime. */
  runtime: RuntimeId;
  /** The file. */
  path: string;
  /** The first byte to read. Default 0. */
  offset?: number | undefined;
  /** The largest number of bytes to read. */
  length: number;
}

/** `file.write`. */
export interface FileWrite {
  /** The runtime. */
  runtime: RuntimeId;
  /** The file. */
  path: string;
  /** The bytes. */
  data: Uint8Array;
  /** Whether the bytes are appended instead of replacing the content. */
  append?: boolean | undefined;
  /** The mode of a file that is created. */
  mode?: number | undefined;
  /**
   * The owner of the file and of directories that are created. Default: the user `user` for new
   * files.
   */
  owner?: Owner | undefined;
}

/** `file.list`. */
export interface FileList {
  /** The runtime. */
  runtime: RuntimeId;
  /** The directory. */
  path: string;
}

/** `file.stat`. */
export interface FileStat {
  /** The runtime. */
  runtime: RuntimeId;
  /** The file. */
  path: string;
  /** Whether a symbolic link is followed. Default true. */
  follow?: boolean | undefined;
}

/** `file.mkdir` and `file.remove`. */
export interface FileTree {
  /** The runtime. */
  runtime: RuntimeId;
  /** The file or directory. */
  path: string;
  /**
   * For `file.mkdir`: whether missing parents are created. For `file.remove`: whether a directory
   * is removed with its content.
   */
  recursive?: boolean | undefined;
  /** The owner of files that are created. Default: the user `user`. */
  owner?: Owner | undefined;
}

/** `file.rename`. */
export interface FileRename {
  /** The runtime. */
  runtime: RuntimeId;
  /** The present path. */
  from: string;
  /** The new path. A file there is replaced. */
  to: string;
}

/** The reply to `file.read` and `file.pull`. */
export interface FileData {
  /**
   * The bytes. Fewer bytes than requested at the end of the file, and if a frame has no space for
   * more.
   */
  data: Uint8Array;
  /** The size of the file. 0 for an archive. */
  size: number;
}

/** The type of a file. */
export type FileType = 'file' | 'directory' | 'symlink' | 'other';

/** The reply to `file.list`: two lists of one length, in the order of the names. */
export interface FileNames {
  /** The names in the directory. */
  names: string[];
  /** The type of each file. */
  types: FileType[];
}

/**
 * The reply to `file.stat`. Times are microseconds since 1970, because nanoseconds do not fit into
 * a JavaScript number.
 */
export interface FileStatus {
  /** The type. */
  type: FileType;
  /** The type and the permissions, as Linux's `st_mode`. */
  mode: number;
  /** The size in bytes. */
  size: number;
  /** The inode number. */
  ino: number;
  /** The number of hard links. */
  nlink: number;
  /** The user that owns the file. */
  uid: number;
  /** The group that owns the file. */
  gid: number;
  /** The time of the last access. */
  atimeUs: number;
  /** The time of the last change of the content. */
  mtimeUs: number;
  /** The time of the last change of the attributes. */
  ctimeUs: number;
  /** The time of creation. */
  birthtimeUs: number;
}

/** The purpose of `file.open`. */
export type Purpose = 'read' | 'write' | 'append' | 'export' | 'import';

/** `file.open`. */
export interface FileOpen {
  /** The runtime. */
  runtime: RuntimeId;
  /** The file or directory. */
  path: string;
  /** The access: read, write, append, or an archive. */
  for: Purpose;
  /** The mode of a file that is created. */
  mode?: number | undefined;
  /**
   * The owner of the file and of directories that are created. Default: the user `user` for new
   * files.
   */
  owner?: Owner | undefined;
  /** For `import`: whether each file has the owner in the archive. Default false. */
  keepOwners?: boolean | undefined;
}

/** The reply to `file.open` and `file.watch`. */
export interface FileHandle {
  /** The handle, valid until `file.close`, a pause, a rollback or the end of the runtime. */
  handle: HandleId;
  /** The size of a file. 0 for an archive or a watch. */
  size: number;
  /** Whether the watched path is a directory. */
  directory: boolean;
}

/** `file.close`. */
export interface FileClose {
  /** The runtime. */
  runtime: RuntimeId;
  /** The file, archive or watch. */
  handle: HandleId;
  /** Whether an incomplete archive is dropped without an error. */
  discard?: boolean | undefined;
}

/** `file.pull`. */
export interface FilePull {
  /** The runtime. */
  runtime: RuntimeId;
  /** The file or archive. */
  handle: HandleId;
  /** The first byte to read, in a file. */
  offset?: number | undefined;
  /** The largest number of bytes to read. */
  length: number;
}

/** `file.push`. */
export interface FilePush {
  /** The runtime. */
  runtime: RuntimeId;
  /** The file or archive. */
  handle: HandleId;
  /** The position of the first byte, in a file that was not opened to append. */
  offset?: number | undefined;
  /** The bytes. */
  data: Uint8Array;
}

/** `file.watch`. */
export interface FileWatch {
  /** The runtime. */
  runtime: RuntimeId;
  /** The file or directory. */
  path: string;
  /** Whether all files and directories below a directory are also watched. */
  recursive?: boolean | undefined;
  /**
   * Whether the watch reports `create`, `write`, `remove`, `rename` and `chmod`. Default false:
   * `rename` and `change`.
   */
  typed?: boolean | undefined;
}

/** `file.changes`. */
export interface FileChanges {
  /** The runtime. */
  runtime: RuntimeId;
  /** The watch. */
  handle: HandleId;
}

/** `file.drain`. */
export interface FileDrain {
  /** The runtime. */
  runtime: RuntimeId;
  /** The watch. */
  handle: HandleId;
}

/** The kind of a change. */
export type ChangeType = 'rename' | 'change' | 'create' | 'remove' | 'write' | 'chmod';

/** The reply to `file.changes` and `file.drain`: lists of one length, oldest change first. */
export interface ChangeList {
  /** Paths relative to the watched directory. The path of the watched file itself is empty. */
  names: string[];
  /** The kind of each change. */
  types: ChangeType[];
  /** The new path of each moved file, or an empty text. Omitted if all texts are empty. */
  targets?: string[] | undefined;
  /** Whether changes were dropped because the queue of the watch was full. */
  overflow: boolean;
  /** Whether the watch was closed. */
  ended: boolean;
}

/** `file.set`. */
export interface FileSet {
  /** The runtime. */
  runtime: RuntimeId;
  /** The file. */
  path: string;
  /** The new permissions. */
  mode?: number | undefined;
  /** The time of the last access, in microseconds since 1970. */
  atimeUs?: number | undefined;
  /** The time of the last change of the content, in microseconds since 1970. */
  mtimeUs?: number | undefined;
  /** The new owner. */
  owner?: Owner | undefined;
  /** Whether a symbolic link is followed. Default true. */
  follow?: boolean | undefined;
}

/** `file.attribute.set`. */
export interface FileAttributeSet {
  /** The runtime. */
  runtime: RuntimeId;
  /** The file. */
  path: string;
  /** The name, which begins with `user.`. */
  name: string;
  /** The value. Omitted: the attribute is removed. */
  value?: Uint8Array | undefined;
}

/** `file.attributes`. */
export interface FileAttributes {
  /** The runtime. */
  runtime: RuntimeId;
  /** The file. */
  path: string;
}

/** The reply to `file.attributes`. */
export interface FileAttributeList {
  /** The value of each attribute, in the order of the names. */
  attributes: Record<string, Uint8Array>;
}

/** `file.link`. */
export interface FileLink {
  /** The runtime. */
  runtime: RuntimeId;
  /** The new name. */
  path: string;
  /** The target of a symbolic link, or the existing file of a hard link. */
  target: string;
  /** Whether the link is a hard link. */
  hard?: boolean | undefined;
  /** The owner of files that are created. Default: the user `user`. */
  owner?: Owner | undefined;
}

/** `file.readlink`. */
export interface FileReadlink {
  /** The runtime. */
  runtime: RuntimeId;
  /** The symbolic link. */
  path: string;
}

/** The reply to `file.readlink`. */
export interface LinkTarget {
  /** The text of the link. */
  target: string;
}

/** `host.call`. */
export interface HostCall {
  /** The runtime of the program. */
  runtime: RuntimeId;
  /** The calling process. */
  pid: Pid;
  /** The service of the SDK: `binding`, `binding.describe` or `filesystem`. */
  service: string;
  /** The name of the binding, or of the app file system's operation. */
  name: string;
  /** The input of the call, in the format of the service. */
  input: Uint8Array;
}

/** `host.result`: either `ok` or `failure`. */
export interface HostResult {
  /** The runtime of the calling program. */
  runtime: RuntimeId;
  /** The result of the call, in the format of the service. */
  ok?: Uint8Array | undefined;
  /** The reason of the failure. */
  failure?: HostFailure | undefined;
}

/** `failure` of `host.result`. */
export interface HostFailure {
  /** The name of a Linux error number. The guest's call fails with `EIO` for any other code. */
  code: string;
  /** A sentence for people. */
  message: string;
}

/** `host.cancel`. */
export interface HostCancel {
  /** The runtime of the calling program. */
  runtime: RuntimeId;
}

/** `bindings.set`. */
export interface BindingsSet {
  /** The runtime. */
  runtime: RuntimeId;
  /** All bindings that the runtime has from now on. */
  bindings: readonly Binding[];
}

/** An entry of `bindings`. */
export interface Binding {
  /** The name. */
  name: string;
  /** The commands that call the binding. */
  commands: readonly string[];
  /** The largest input of one call, in bytes. */
  inputBytes: number;
}

/**
 * The target of `stream.open`, `listener.wait` and `listener.list`: a TCP port, or the path of a
 * Unix socket.
 */
export interface NetworkTarget {
  /** The runtime. */
  runtime: RuntimeId;
  /** The port of a TCP listener. */
  port?: number | undefined;
  /** A loopback address. If omitted or `localhost`, 127.0.0.1 is tried first, then ::1. */
  host?: string | undefined;
  /** An absolute guest path, or an abstract name that begins with NUL. */
  path?: string | undefined;
}

/**
 * `handler.wanted` and `stream.handle`: a request out of a runtime, to which a function of the app
 * responds.
 */
export interface HandlerRequest {
  /** The runtime. */
  runtime: RuntimeId;
  /** The number of the request in its runtime. */
  number: number;
}

/** `stream.data` of the SDK. */
export interface StreamWrite {
  /** The runtime. */
  runtime: RuntimeId;
  /** The bytes. */
  data: Uint8Array;
}

/** `stream.credit` of the SDK. */
export interface StreamRead {
  /** The runtime. */
  runtime: RuntimeId;
  /** The number of bytes that the reader has consumed. */
  bytes: number;
}

/** A body that names only the runtime. */
export interface InRuntime {
  /** The runtime. */
  runtime: RuntimeId;
}

/** `stream.close` of the SDK. */
export interface StreamLeave {
  /** The runtime. */
  runtime: RuntimeId;
  /** Whether the guest receives a reset instead of the end of the stream. */
  reset?: boolean | undefined;
}

/** `stream.data` of the sidecar. */
export interface StreamData {
  /** Bytes that the guest has written. */
  data: Uint8Array;
}

/** `stream.close` of the sidecar. */
export interface StreamClosed {
  /** The reason why the connection was closed. Omitted if both directions have ended. */
  failure?: Failure | undefined;
}

/** The reply to `listener.wait`, and an entry of the reply to `listener.list`. */
export interface Listener {
  /** The process that began to listen. */
  pid: Pid;
  /** The address that a TCP listener is bound to. */
  host?: string | undefined;
  /** The port of a TCP listener. */
  port?: number | undefined;
  /** The path of a Unix socket. */
  path?: string | undefined;
}

/** The reply to `listener.list`. */
export interface Listeners {
  /** The listeners. */
  listeners: Listener[];
}

/** The hosts that a runtime reaches without a rule. */
export type OutsideMode = 'deny' | 'public';

/** The protocol of a flow. */
export type OutsideProtocol = 'tcp' | 'udp';

/**
 * The policy for connections out of a runtime. An omitted field has its default in a new policy,
 * and stays unchanged in a change.
 */
export interface OutsideOptions {
  /** The hosts that a runtime reaches without a rule. */
  outside?: OutsideMode | undefined;
  /** Hosts that are allowed. */
  allow?: readonly string[] | undefined;
  /** Hosts that are denied. */
  deny?: readonly string[] | undefined;
  /** Addresses that are allowed although they are not public. */
  private?: readonly string[] | undefined;
  /** Rules about HTTP requests. A host with a rule is denied except for what a rule allows. */
  http?: readonly OutsideHttpRule[] | undefined;
  /** The secrets, without their values. */
  secrets?: readonly OutsideSecret[] | undefined;
  /** Certificates in PEM of authorities that are trusted besides the default authorities. */
  authorities?: readonly string[] | undefined;
  /** The addresses of the DNS servers, with or without a port. Default: the host machine's. */
  dnsServers?: readonly string[] | undefined;
  /** Names with fixed addresses, which need no DNS server. */
  dnsHosts?: readonly OutsideHost[] | undefined;
  /** The address of the host machine from which connections are opened. */
  localAddress?: string | undefined;
  /** The URL of the proxy through which connections are opened. */
  proxy?: string | undefined;
  /**
   * Limits by name. An omitted limit has its default in a new policy, and stays unchanged in a
   * change.
   */
  limits?: Readonly<Record<string, number>> | undefined;
}

/** A rule about HTTP requests. */
export interface OutsideHttpRule {
  /** A name or `*.name`, with or without a port. */
  host: string;
  /** The methods. Omitted: every method. */
  methods?: readonly string[] | undefined;
  /** The patterns of paths. Omitted: every path. */
  paths?: readonly string[] | undefined;
  /** The headers that the edge process sets. `${NAME}` in a value is the value of a secret. */
  inject?: Readonly<Record<string, string>> | undefined;
  /**
   * The function of the app that responds to the requests. Omitted: the requests are sent to the
   * host.
   */
  handler?: OutsideHandler | undefined;
}

/** A function of the app that responds to requests in place of their host. */
export interface OutsideHandler {
  /** The number of the function, which the head of each request names. */
  id: number;
  /** The time until the head of the response, in milliseconds. */
  timeoutMs: number;
}

/** A secret without its value. */
export interface OutsideSecret {
  /** The name. With a placeholder, also the name of an environment variable. */
  name: string;
  /** The text that programs have. A restored runtime keeps the placeholder of its snapshot. */
  placeholder?: string | undefined;
  /** The hosts that may receive the value. */
  hosts: readonly string[];
  /** The places of the value. Omitted: the default headers. */
  places?: readonly string[] | undefined;
  /** Whether connections without TLS may carry the value. */
  insecure?: boolean | undefined;
  /** The scope of signatures, if the value is a key of AWS that signs requests. */
  sign?: OutsideSigning | undefined;
}

/**
 * The scope of signatures of AWS. An omitted field has the value that the program has signed for.
 */
export interface OutsideSigning {
  /** The region, such as `eu-central-1`. */
  region?: string | undefined;
  /** The service, such as `s3`. */
  service?: string | undefined;
}

/** A name with fixed addresses. */
export interface OutsideHost {
  /** The name. */
  name: string;
  /** The addresses. */
  addresses: readonly string[];
}

/** The effect of a change on open connections. */
export type OutsideExisting = 'recheck' | 'keep';

/** `outside.update`. */
export interface OutsideUpdate {
  /** The runtime. */
  runtime: RuntimeId;
  /** The fields that are replaced. */
  change: OutsideOptions;
  /**
   * The fields that have their defaults again: names of fields of `change`, and `limits.NAME` for a
   * limit.
   */
  clear?: readonly string[] | undefined;
  /** The effect on open connections. Default: `recheck`. */
  existing?: OutsideExisting | undefined;
}

/** `outside.check`. */
export interface OutsideCheck {
  /** The runtime. */
  runtime: RuntimeId;
  /** The URL. */
  url: string;
  /** The method of the request. Default: `GET`. */
  method?: string | undefined;
}

/** The reply to `outside.check`. */
export interface OutsideVerdict {
  /** Whether a connection is allowed. */
  allowed: boolean;
  /** The stable text of the reason, if a connection is denied. */
  reason?: string | undefined;
  /** The rule that decides, such as `deny[3]`. Omitted if the default decides. */
  rule?: string | undefined;
  /** The text of the rule. */
  pattern?: string | undefined;
}

/** The reply to `outside.flows`. */
export interface OutsideFlowList {
  /** The open connections. */
  flows: OutsideFlow[];
}

/** An open connection. */
export interface OutsideFlow {
  /** The protocol. */
  protocol: OutsideProtocol;
  /** The name that admitted the connection. Omitted if a rule about addresses admitted it. */
  host?: string | undefined;
  /** The address of the peer. */
  address: string;
  /** The port of the peer. */
  port: number;
  /** The rule that admitted the connection, such as `allow[1]`. Omitted if the default decided. */
  rule?: string | undefined;
  /** The text of the rule. */
  pattern?: string | undefined;
  /** The number of bytes that the runtime has sent. */
  sent: number;
  /** The number of bytes that the runtime has received. */
  received: number;
  /** The number of datagrams of both directions that were dropped, for UDP. */
  dropped?: number | undefined;
  /** The time at which the connection was opened, in microseconds since 1970. */
  sinceUs: number;
}

/** `outside.watch`. */
export interface OutsideWatch {
  /** The runtime. */
  runtime: RuntimeId;
  /** Whether events are recorded from now on. Events in the queue are dropped. */
  on: boolean;
}

/** `outside.pending`. */
export interface OutsidePending {
  /** The runtime. */
  runtime: RuntimeId;
}

/** `outside.roots`. */
export interface OutsideRoots {
  /** Certificates in PEM, at most 1,000,000 bytes. */
  pem: string;
}

/** The reply to `outside.walls`. */
export interface OutsideWalls {
  /** The parts. Empty before the first start of the edge process. */
  walls: WallPart[];
}

/** `outside.take`. */
export interface OutsideTake {
  /** The runtime. */
  runtime: RuntimeId;
  /** Whether the reply has all events in the queue. Default: at most 128 events. */
  all?: boolean | undefined;
}

/** The reply to `outside.take`. */
export interface OutsideTaken {
  /** Events, oldest first. */
  events: OutsideEvent[];
  /** The number of dropped events. */
  lost: number;
}

/** The type of an outside event. */
export type OutsideEventType = 'open' | 'close' | 'denied' | 'dns' | 'limit' | 'request';

/** An outside event. The type determines the fields that are present. */
export interface OutsideEvent {
  /** The type. */
  kind: OutsideEventType;
  /** The time, in microseconds since 1970. */
  timeUs: number;
  /** The protocol of the flow. */
  protocol?: OutsideProtocol | undefined;
  /** The name of the host, if the name is known. */
  host?: string | undefined;
  /** The address of the peer. */
  address?: string | undefined;
  /** The port of the peer. */
  port?: number | undefined;
  /** The addresses that a lookup has found. */
  addresses?: string[] | undefined;
  /** The rule that decided, such as `deny[3]`. */
  rule?: string | undefined;
  /** The text of the rule. */
  pattern?: string | undefined;
  /** The reason of a denial, of a close, or of a failed lookup. */
  reason?: string | undefined;
  /** The name of the limit. */
  limit?: string | undefined;
  /** The number of bytes that the runtime has sent. */
  sent?: number | undefined;
  /** The number of bytes that the runtime has received. */
  received?: number | undefined;
  /** The number of datagrams of both directions that were dropped, for UDP. */
  dropped?: number | undefined;
  /** The duration of a connection or of a lookup, in microseconds. */
  durationUs?: number | undefined;
  /** The method of a request. */
  method?: string | undefined;
  /** The path of a request, without the query. */
  path?: string | undefined;
  /** The status of the response. */
  status?: number | undefined;
  /** The names of the secrets whose values the request contained. */
  secrets?: string[] | undefined;
  /** The names of the secrets whose placeholder is in the request in a place without effect. */
  placeholders?: string[] | undefined;
}

/** Whether an operation is allowed. */
export type PermissionMode = 'allow' | 'deny';

/** A policy. An omitted scope has its default, which `docs/permissions.md` documents. */
export interface Permissions {
  /** Files and directories. */
  fs?: PermissionScope | undefined;
  /** Sockets and host names. */
  network?: PermissionScope | undefined;
  /** Starting children. */
  childProcess?: PermissionScope | undefined;
  /** Signals and other operations on processes. */
  process?: PermissionScope | undefined;
  /** Variables of the environment. */
  env?: PermissionScope | undefined;
  /** App bindings. */
  binding?: PermissionScope | undefined;
}

/** The rules of one scope. */
export interface PermissionScope {
  /** The result when no rule matches. */
  default: PermissionMode;
  /** The rules. `docs/permissions.md` says which of several matching rules decides. */
  rules?: readonly PermissionRule[] | undefined;
}

/** A rule. */
export interface PermissionRule {
  /** The result when the rule decides. */
  mode: PermissionMode;
  /** The operations that the rule matches. Omitted: all operations. */
  operations?: readonly string[] | undefined;
  /** The paths or patterns that the rule matches. Omitted: every resource. */
  patterns?: readonly string[] | undefined;
}

/** `permissions.set`. */
export interface PermissionsSet {
  /** The runtime. */
  runtime: RuntimeId;
  /** The whole policy. */
  permissions: Permissions;
}

/** `permissions.watch`. */
export interface PermissionsWatch {
  /** The runtime. */
  runtime: RuntimeId;
  /** Whether decisions are recorded from now on. Decisions in the queue are dropped. */
  on: boolean;
}

/** `permissions.pending`. */
export interface PermissionsPending {
  /** The runtime. */
  runtime: RuntimeId;
}

/** `permissions.take`. */
export interface PermissionsTake {
  /** The runtime. */
  runtime: RuntimeId;
  /** Whether the reply has all decisions in the queue. Default: at most 128 decisions. */
  all?: boolean | undefined;
}

/** The reply to `permissions.take`. */
export interface PermissionsTaken {
  /** Decisions, oldest first. */
  events: PermissionEvent[];
  /** The number of dropped decisions that followed the last decision of `events`. */
  lost: number;
}

/** A decision. */
export interface PermissionEvent {
  /** The scope. */
  scope: string;
  /** The operation. */
  operation: string;
  /** The resource. */
  resource: string;
  /** The result. */
  decision: PermissionMode;
  /** The index of the deciding rule in its scope. Omitted if the scope's default decided. */
  rule?: number | undefined;
  /**
   * The pattern of the deciding rule that matched. Omitted if no rule decided, or if the rule
   * applies to every resource.
   */
  pattern?: string | undefined;
  /**
   * The sentence that explains a denied operation, as in the program's error. Omitted for an
   * allowed operation.
   */
  reason?: string | undefined;
  /**
   * The process that made the call, or that receives the environment variable. Absent if the SDK
   * made the call.
   */
  pid?: Pid | undefined;
  /** The time of the decision, in microseconds since 1970. */
  timeUs: number;
}

/** Allows connections of some members to some members. */
export interface NetworkRuleOptions {
  /** The name or a tag of the connecting members. Omitted means every member. */
  from?: string | undefined;
  /** The name or a tag of the listening members. Omitted means every member. */
  to?: string | undefined;
  /** The first and the last port of each range. Omitted means every port. */
  ports?: readonly NetworkPorts[] | undefined;
}

/** A range of ports. */
export interface NetworkPorts {
  /** The first port. */
  first: number;
  /** The last port. */
  last: number;
}

/** `network.create`. */
export interface NetworkCreate {
  /** The name, which is a part of the members' full names. */
  name: string;
  /** The rules. Omitted means that each member reaches each member. */
  rules?: readonly NetworkRuleOptions[] | undefined;
}

/** The reply to `network.create`. */
export interface NetworkCreated {
  /** The network. */
  network: NetworkId;
}

/** `network.join`. */
export interface NetworkJoin {
  /** The network. */
  network: NetworkId;
  /** The runtime. */
  runtime: RuntimeId;
  /** The name of the member. */
  name: string;
  /** The tags, which rules name. */
  tags?: readonly string[] | undefined;
}

/** `network.leave`. */
export interface NetworkLeave {
  /** The network. */
  network: NetworkId;
  /** The runtime. */
  runtime: RuntimeId;
}

/** `network.rules`. */
export interface NetworkRules {
  /** The network. */
  network: NetworkId;
  /** The rules. Omitted means that each member reaches each member. */
  rules?: readonly NetworkRuleOptions[] | undefined;
}

/** A body that names only the network. */
export interface InNetwork {
  /** The network. */
  network: NetworkId;
}

/** A member of a network. */
export interface NetworkMember {
  /** The name. */
  name: string;
  /** The tags. */
  tags: string[];
  /** The IPv4 address. */
  v4: string;
  /** The IPv6 address. */
  v6: string;
}

/** The reply to `network.members`. */
export interface NetworkMemberList {
  /** The members, in the order of their addresses. */
  members: NetworkMember[];
}

/** A connection between two members. */
export interface NetworkFlow {
  /** The name of the connecting member. */
  from: string;
  /** The name of the listening member. */
  to: string;
  /** The port of the listener. */
  port: number;
  /** The number of bytes that the connecting member has sent. */
  sent: number;
  /** The number of bytes that the listening member has sent. */
  received: number;
  /** The time at which the connection was begun, in microseconds since 1970. */
  sinceUs: number;
}

/** The reply to `network.flows`. */
export interface NetworkFlowList {
  /** The open connections, the oldest first. */
  flows: NetworkFlow[];
}

/** `network.watch`. */
export interface NetworkWatch {
  /** The network. */
  network: NetworkId;
  /** Whether events are recorded from now on. Events in the queue are dropped. */
  on: boolean;
}

/** `network.take`. */
export interface NetworkTake {
  /** The network. */
  network: NetworkId;
  /** Whether the reply has all events in the queue. Default: at most 128 events. */
  all?: boolean | undefined;
}

/** The reply to `network.take`. */
export interface NetworkTaken {
  /** Events, oldest first. */
  events: NetworkMemberEvent[];
  /** The number of dropped events. */
  lost: number;
}

/** The type of an event of a network. */
export type NetworkMemberEventType = 'open' | 'close' | 'denied';

/** An event of a network. The type determines the fields that are present. */
export interface NetworkMemberEvent {
  /** The type. */
  kind: NetworkMemberEventType;
  /** The time, in microseconds since 1970. */
  timeUs: number;
  /** The name of the connecting member. */
  from: string;
  /** The name of the listening member. */
  to: string;
  /** The port of the listener. */
  port: number;
  /** The number of bytes that the connecting member has sent. */
  sent?: number | undefined;
  /** The number of bytes that the listening member has sent. */
  received?: number | undefined;
  /** The time between the connect and the end, in microseconds. */
  durationUs?: number | undefined;
  /** The reason of a denial, or of a close by a reset. */
  reason?: string | undefined;
}

/** `mode` of `process.start`. */
export type Mode = 'exec' | 'run' | 'file' | 'command';

/** `language` of `process.start`. */
export type Language = 'javascript' | 'python';

/** Descriptors whose output is sent while the program runs. */
export interface Stream {
  /** Descriptor 1. */
  stdout?: boolean | undefined;
  /** Descriptor 2. */
  stderr?: boolean | undefined;
}

/** `process.start`. */
export interface ProcessStart {
  /** The runtime. */
  runtime: RuntimeId;
  /** The meaning of `code`. */
  mode: Mode;
  /** The program, its path, or a command. */
  code: string;
  /** The language of the program. A command has no language. Omitted for JavaScript. */
  language?: Language | undefined;
  /** Arguments after `node` or `python3` and the program's name, or after the command. */
  args?: readonly string[] | undefined;
  /** Options of `node` or `python3` itself. */
  execArgv?: readonly string[] | undefined;
  /** Variables that extend or replace the runtime's environment. */
  env?: Readonly<Record<string, string>> | undefined;
  /** The working directory, instead of the runtime's working directory. */
  cwd?: string | undefined;
  /** The standard input. With `live`, the first bytes of the standard input. */
  stdin?: Uint8Array | undefined;
  /** The wall-clock limit of the program. */
  timeoutMs?: number | undefined;
  /** Limits that the program has instead of the runtime's. */
  limits?: Readonly<Record<string, number>> | undefined;
  /** Descriptors whose output is sent while the program runs. */
  stream?: Stream | undefined;
  /** Whether `started` is sent and the standard input stays open for `process.write`. */
  live?: boolean | undefined;
  /** The user of the program. Default: the user `user`. */
  user?: Owner | undefined;
  /**
   * Makes a terminal of this size, which is the program's standard input and output. `live` must be
   * set. The output of the terminal is the output of descriptor 1, and is not captured.
   */
  terminal?: TerminalSize | undefined;
  /**
   * Whether the other processes of the program's session continue after the program's end. The
   * reply then follows when no process has a descriptor of the program's output.
   */
  keepOrphans?: boolean | undefined;
}

/** The size of a terminal in characters. */
export interface TerminalSize {
  /** The number of characters in a line. */
  columns: number;
  /** The number of lines. */
  rows: number;
}

/** Nanoseconds spent in each step of a start and in the run of the program. */
export interface Timings {
  /** The time to map the memory image. */
  memoryMapNs: number;
  /** The time to make the instance. */
  instantiateNs: number;
  /** The time from the instance to the first instruction of the user's program. */
  guestStartNs: number;
  /** The time from the first instruction to the end of the user's program. */
  guestRunNs: number;
}

/**
 * The reply to `process.start`, `process.attach` and `runner.eval`: the result of a program or of
 * an evaluation.
 */
export interface Outcome {
  /** The exit code. */
  exitCode: number;
  /** Linux's number of the signal that ended the program. Omitted if the program exited. */
  signal?: number | undefined;
  /** The captured output of descriptor 1. */
  stdout: Uint8Array;
  /** The captured output of descriptor 2. */
  stderr: Uint8Array;
  /** The JSON text of the value that the program passed to `__return`. */
  value?: string | undefined;
  /** The reason why the sandbox ended the program or the evaluation. Omitted for any other end. */
  failure?: Failure | undefined;
  /** Whether the program wrote more to descriptor 1 than `stdout` contains. */
  stdoutTruncated?: boolean | undefined;
  /** Whether the program wrote more to descriptor 2 than `stderr` contains. */
  stderrTruncated?: boolean | undefined;
  /** The time of each step of the start and of the run. */
  timings: Timings;
}

/** `started`. */
export interface Started {
  /** The process of the program. */
  pid: Pid;
  /**
   * After `process.attach`: the most bytes of output that are sent beyond the window, because the
   * output was captured before the attachment.
   */
  earlier?: number | undefined;
  /** Whether the request of a `process.attach` is a listener. */
  listener?: boolean | undefined;
}

/** `lost`. */
export interface Lost {
  /** The number of bytes that the listener does not receive. */
  bytes: number;
}

/** `process.write`. */
export interface ProcessWrite {
  /** The runtime. */
  runtime: RuntimeId;
  /** A process that was started live. */
  pid: Pid;
  /** Bytes for the standard input of the process. */
  data: Uint8Array;
  /** Whether the standard input ends after `data`. */
  end?: boolean | undefined;
}

/** `process.signal`. */
export interface ProcessSignal {
  /** The runtime. */
  runtime: RuntimeId;
  /** The process. */
  pid: Pid;
  /** Linux's signal number. 0 only checks that the process exists. */
  signal: number;
}

/** `process.resize`. */
export interface ProcessResize {
  /** The runtime. */
  runtime: RuntimeId;
  /** A process that was started with a terminal. */
  pid: Pid;
  /** The new size. */
  size: TerminalSize;
}

/** `process.list`. */
export interface ProcessList {
  /** The runtime. */
  runtime: RuntimeId;
}

/** The reply to `process.list`: lists of one length, in the order of the pids. */
export interface ProcessTable {
  /** The pid of each process. */
  pids: Pid[];
  /** The parent of each process. 1 for a root program. */
  ppids: Pid[];
  /** The process group of each process. */
  groups: Pid[];
  /** The command line that each process was started with. */
  commands: string[];
}

/** `process.attach`. */
export interface ProcessAttach {
  /** The runtime. */
  runtime: RuntimeId;
  /** A root program, live or ended. */
  pid: Pid;
  /**
   * Descriptors whose output is sent while the program runs. For the first request for a restored
   * program, output that was captured before the snapshot is sent first.
   */
  stream?: Stream | undefined;
}

/** A program of a restored runtime. */
export interface RestoredProgram {
  /** The process of the program. */
  pid: Pid;
  /** The runner, for a resident program. */
  runner?: RunnerId | undefined;
}

/** The language of a resident runner. */
export type RunnerLanguage = 'javascript' | 'bash' | 'python';

/** The end of an evaluation. */
export type Until = 'value' | 'idle';

/** The language of a cell. */
export type CellLanguage = 'javascript' | 'typescript';

/** `runner.create`. */
export interface RunnerCreate {
  /** The runtime. */
  runtime: RuntimeId;
  /** Variables that extend or replace the runtime's environment. */
  env?: Readonly<Record<string, string>> | undefined;
  /** The working directory, instead of the runtime's working directory. */
  cwd?: string | undefined;
  /** Limits that the runner has instead of the runtime's. */
  limits?: Readonly<Record<string, number>> | undefined;
  /** The user of the runner. Default: the user `user`. */
  user?: Owner | undefined;
  /** The language of the snippets. Omitted for JavaScript. */
  language?: RunnerLanguage | undefined;
}

/** The reply to `runner.create`. */
export interface RunnerCreated {
  /** The new runner. */
  runner: RunnerId;
  /** The process of the runner in the runtime. */
  pid: Pid;
  /** The time of each step of the start. */
  timings: Timings;
}

/** `runner.eval`. */
export interface RunnerEval {
  /** The runner. */
  runner: RunnerId;
  /** The snippet. */
  code: string;
  /** Whether the snippet may return a value. */
  returns?: boolean | undefined;
  /** Variables that extend or replace the runner's environment during the evaluation. */
  env?: Readonly<Record<string, string>> | undefined;
  /** The working directory during the evaluation, instead of the runner's working directory. */
  cwd?: string | undefined;
  /** The wall-clock limit of the evaluation. */
  timeoutMs?: number | undefined;
  /** Descriptors whose output is sent while the evaluation runs. */
  stream?: Stream | undefined;
  /** The end of the evaluation. Omitted for `idle`. */
  until?: Until | undefined;
  /** The language of a cell. Omitted for a module. */
  cell?: CellLanguage | undefined;
}

/** `runner.dispose` and `runner.interrupt`. */
export interface RunnerOnly {
  /** The runner. */
  runner: RunnerId;
}

/** `runtime.create`. */
export interface RuntimeCreate {
  /**
   * The environment of the runtime's processes. With `snapshot`, variables that extend or replace
   * the snapshot's environment.
   */
  env?: Readonly<Record<string, string>> | undefined;
  /** The working directory of the runtime's processes. Default with `snapshot`: the snapshot's. */
  cwd?: string | undefined;
  /** Limits by name. A named limit replaces the limit of `profile` or of the snapshot. */
  limits?: Readonly<Record<string, number>> | undefined;
  /**
   * The set of limits for names that `limits` omits: `default` or `hardened`. Default with
   * `snapshot`: the snapshot's limits.
   */
  profile?: string | undefined;
  /** Whether the sidecar sends `limit.warning`. */
  warn?: boolean | undefined;
  /** Files that exist from the start, by absolute guest path. Ignored with `snapshot`. */
  files?: Readonly<Record<string, Uint8Array>> | undefined;
  /** Mounts that exist from the start. A mount that contains another mount precedes that mount. */
  mounts?: readonly Mount[] | undefined;
  /**
   * The permissions of the runtime's programs. Default with `snapshot`: the snapshot's permissions.
   */
  permissions?: Permissions | undefined;
  /** The policy for connections out of the runtime. Omitted: no connection leaves the runtime. */
  outside?: OutsideOptions | undefined;
  /** Bindings that exist from the start. */
  bindings?: readonly Binding[] | undefined;
  /**
   * The snapshot that the runtime is restored from: an id, a name, or the beginning of a digest.
   */
  snapshot?: string | undefined;
  /** The owner of the runtime. Default: the tenant `default`. */
  tenant?: string | undefined;
  /** The share of processor time relative to other runtimes, 1 to 10,000. Default: 100. */
  weight?: number | undefined;
}

/** An entry of `mounts`: a host directory, or an app file system. */
export interface Mount {
  /** The mount point in the guest. */
  guestPath: string;
  /** The directory on the host machine. Empty for an app file system. */
  hostPath: string;
  /** Whether every change by the guest fails with `EROFS`. */
  readOnly: boolean;
  /** Whether the host directory is never written and the guest's changes stay in memory. */
  overlay?: boolean | undefined;
  /** The id of the app file system. */
  fileSystem?: FileSystemId | undefined;
}

/** The reply to `runtime.create`. */
export interface RuntimeCreated {
  /** The new runtime. */
  runtime: RuntimeId;
  /** The time in which the sidecar made the runtime, in nanoseconds. */
  configureNs: number;
  /**
   * The programs, the working directory and the permissions of a restored runtime. Omitted for a
   * new runtime.
   */
  restored?: Restored | undefined;
}

/** `restored` of the reply to `runtime.create`. */
export interface Restored {
  /** Resident runners, and programs that a request can attach to. */
  programs: RestoredProgram[];
  /** The default working directory of programs. */
  cwd: string;
  /** The permissions of programs. */
  permissions: Permissions;
  /** The secrets of the snapshot and of the request. */
  secrets?: RestoredSecret[] | undefined;
}

/** A secret of a restored runtime. */
export interface RestoredSecret {
  /** The name. */
  name: string;
  /** The hosts that may receive the value. */
  hosts: string[];
}

/** `runtime.dispose`. */
export interface RuntimeDispose {
  /** The runtime. */
  runtime: RuntimeId;
}

/** `runtime.resources`. */
export interface RuntimeResources {
  /** The runtime. */
  runtime: RuntimeId;
}

/** The reply to `runtime.resources`. The first four lists have one length and one order. */
export interface RuntimeUsage {
  /** Names of limits. */
  limits: string[];
  /** The present use of each limit. */
  used: number[];
  /** The highest use of each limit so far. */
  high: number[];
  /** The bound of each limit. */
  max: number[];
  /** The number of open descriptors of all processes. */
  descriptors: number;
  /** The number of pending operations of all processes. */
  operations: number;
  /** The number of processes that wait for a timer. */
  timers: number;
  /** The CPU time of all processes, in milliseconds. */
  cpuMs: number;
  /** The number of bytes that wait in pipes, sockets and standard streams. */
  bufferedBytes: number;
}

/** `limit.warning`. */
export interface LimitWarning {
  /** The runtime. */
  runtime: RuntimeId;
  /** The name of the limit. */
  limit: string;
  /** The present use. */
  used: number;
  /** The bound of the limit. */
  max: number;
  /** The process whose use is reported. Omitted for a limit of the whole runtime. */
  pid?: Pid | undefined;
}

/** The reply to `secrets.key`. */
export interface SecretsKey {
  /**
   * The public key (X25519) of the edge process. Omitted if no edge process has the runtime. The
   * sidecar then sends `secrets.wanted` with the first use.
   */
  key?: Uint8Array | undefined;
}

/** `secrets.put`. */
export interface SecretsPut {
  /** The runtime. */
  runtime: RuntimeId;
  /** The key of `secrets.key`. */
  key: Uint8Array;
  /** The values, sealed to the key with HPKE (RFC 9180). */
  sealed: Uint8Array;
}

/** `snapshot.take`. */
export interface SnapshotTake {
  /** The runtime. */
  runtime: RuntimeId;
  /** The name. */
  name?: string | undefined;
  /** Texts of the embedder, by name. */
  labels?: Readonly<Record<string, string>> | undefined;
  /** Whether the snapshot is written to disk before the reply. */
  disk?: boolean | undefined;
  /**
   * Whether the snapshot contains the programs. Default true. Without programs, the snapshot has
   * only the files, and waits for no program.
   */
  memory?: boolean | undefined;
  /** The time in which the programs must quiesce. Default: 5 seconds. */
  timeoutMs?: number | undefined;
}

/** `runtime.rollback`. */
export interface RuntimeRollback {
  /** The runtime. */
  runtime: RuntimeId;
  /** A snapshot of the runtime's tenant. */
  snapshot: string;
}

/** The reply to `runtime.rollback` and `runtime.resume`. */
export interface RestoredPrograms {
  /** Resident runners, and programs that a request can attach to. */
  programs: RestoredProgram[];
}

/** `runtime.clone`. */
export interface RuntimeClone {
  /** The runtime. */
  runtime: RuntimeId;
  /** The number of clones. */
  count: number;
  /** The time in which the programs must quiesce. Default: 5 seconds. */
  timeoutMs?: number | undefined;
  /** Whether the other clones are kept if one clone fails. */
  settle?: boolean | undefined;
  /** Whether the sidecar sends `limit.warning` for the clones. */
  warn?: boolean | undefined;
  /** The mounts of the runtime, for the clones. */
  mounts?: readonly Mount[] | undefined;
  /** Bindings that the clones have from the start. */
  bindings?: readonly Binding[] | undefined;
  /** The policy for connections out of the clones. Omitted: no connection leaves the clones. */
  outside?: OutsideOptions | undefined;
}

/** An entry of the reply to `runtime.clone`: a runtime, or the reason why the clone failed. */
export interface RuntimeCopy {
  /** The new runtime. */
  runtime?: RuntimeId | undefined;
  /** Resident runners, and programs that a request can attach to. */
  programs: RestoredProgram[];
  /** The reason why the clone failed. */
  failure?: Failure | undefined;
}

/** The reply to `runtime.clone`. */
export interface RuntimeCopies {
  /** As many entries as clones were requested. */
  copies: RuntimeCopy[];
}

/** `runtime.pause`. */
export interface RuntimePause {
  /** The runtime. */
  runtime: RuntimeId;
  /** The time in which the programs must quiesce. Default: 5 seconds. */
  timeoutMs?: number | undefined;
  /** Whether the store may delete the snapshot once the sidecar has exited. */
  temporary?: boolean | undefined;
  /** Whether the runtime is frozen in memory if its programs do not quiesce in time. */
  freeze?: boolean | undefined;
}

/** The reply to `runtime.pause`. */
export interface RuntimePaused {
  /** The snapshot on disk. Omitted if the runtime is frozen in memory. */
  snapshot?: SnapshotEntry | undefined;
}

/** `runtime.resume`. */
export interface RuntimeResume {
  /** The runtime. */
  runtime: RuntimeId;
  /** Whether the sidecar sends `limit.warning`. */
  warn?: boolean | undefined;
  /** The mounts of the runtime. */
  mounts?: readonly Mount[] | undefined;
  /** Bindings that the runtime has before its programs run. */
  bindings?: readonly Binding[] | undefined;
  /** The policy for connections out of the runtime. Omitted: no connection leaves the runtime. */
  outside?: OutsideOptions | undefined;
}

/** `snapshot.list`. */
export interface SnapshotList {
  /** The owner. */
  tenant: string;
  /** The last entry of the previous reply. The list continues after this entry. */
  after?: SnapshotPosition | undefined;
}

/** The position of a snapshot in a list. The position stays valid if the snapshot is deleted. */
export interface SnapshotPosition {
  /** Milliseconds since 1970. */
  createdMs: number;
  /** The snapshot's id. */
  id: string;
}

/** A body that names one snapshot. */
export interface SnapshotNamed {
  /** The owner. */
  tenant: string;
  /** The snapshot. */
  snapshot: string;
}

/** `snapshot.export`. */
export interface SnapshotExport {
  /** The owner. */
  tenant: string;
  /** The snapshot. */
  snapshot: string;
  /** The file on the host machine. */
  path: string;
}

/** `snapshot.import`. */
export interface SnapshotImport {
  /** The new owner. */
  tenant: string;
  /** The file on the host machine. */
  path: string;
}

/** The storage of a snapshot. */
export type Stored = 'memory' | 'disk' | 'both';

/** The description of a snapshot. */
export interface SnapshotEntry {
  /** The id. */
  id: string;
  /** The previous snapshot of the runtime, or the snapshot that the runtime was restored from. */
  parent?: string | undefined;
  /** The name. */
  name?: string | undefined;
  /** Texts of the embedder, by name. */
  labels: Record<string, string>;
  /** The owner. */
  tenant: string;
  /** Milliseconds since 1970. */
  createdMs: number;
  /** The content hash of the guest image that the snapshot needs. */
  image: string;
  /** The number of bytes beyond the guest image, including pages that other snapshots share. */
  size: number;
  /** The number of programs in the snapshot. */
  programs: number;
  /** Where the snapshot is stored. */
  stored: Stored;
}

/** The reply to `snapshot.list`. */
export interface SnapshotEntries {
  /** Snapshots of the tenant, oldest first. */
  snapshots: SnapshotEntry[];
  /**
   * Files in the store that are not valid snapshots. Only the first reply of a list has entries.
   */
  damaged: DamagedSnapshot[];
  /** Whether more snapshots follow. */
  more?: boolean | undefined;
}

/** A file in the store that is not a valid snapshot. */
export interface DamagedSnapshot {
  /** The file. */
  path: string;
  /** A sentence that describes the defect. */
  reason: string;
}

/** The reply to `snapshot.digest`. */
export interface SnapshotDigest {
  /** SHA-256 of the content, in hex. */
  digest: string;
}
