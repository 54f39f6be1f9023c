// Permissions of a runtime's programs: the policy as an option. `docs/permissions.md` defines the
// rule that applies. The sidecar checks patterns again. Next: `permissions/policy.ts`, the policy
// as a message.

import { type Fault, isObject, listOf, oneOf, type Rule, rule } from './rule.js';
import { type AnyTable, known, type OptionTable, objectWith, required } from './table.js';

/**
 * The result of a permission check. A denied operation fails with `EACCES` in the program. A denied
 * environment variable does not exist in the program.
 */
export type PermissionMode = 'allow' | 'deny';

/** The operations of each scope. */
export interface PermissionOperations {
  fs:
    | 'read'
    | 'write'
    | 'stat'
    | 'readdir'
    | 'create_dir'
    | 'rm'
    | 'rename'
    | 'symlink'
    | 'link'
    | 'readlink'
    | 'chmod'
    | 'chown'
    | 'utimes'
    | 'truncate'
    | 'watch'
    | 'execute';
  network: 'listen' | 'connect' | 'udp' | 'dns';
  childProcess: 'spawn';
  process: 'signal' | 'chdir' | 'setpgid';
  env: 'read' | 'write';
  binding: 'call';
}

/** A group of permissions. */
export type PermissionScope = keyof PermissionOperations;

/** A rule for files. */
export interface FsPermissionRule {
  mode: PermissionMode;
  /** The operations that the rule is for. @default all */
  operations?: readonly PermissionOperations['fs'][] | undefined;
  /**
   * Absolute guest paths, or paths that begin with `**` and a slash. Each path matches the file at
   * the path and all files below. `*` matches text without slashes, `?` one character that is no
   * slash, `**` any number of names.
   * @default everything
   */
  paths?: readonly string[] | undefined;
}

/** A rule for a scope other than `fs`. */
export interface PatternPermissionRule<S extends Exclude<PermissionScope, 'fs'>> {
  mode: PermissionMode;
  /** The operations that the rule is for. @default all */
  operations?: readonly PermissionOperations[S][] | undefined;
  /**
   * The resources that the rule is for. Examples are `host:port` for the network, paths or names of
   * programs, `SIGTERM:12` for a signal, and names of variables and bindings.
   * @default everything
   */
  patterns?: readonly string[] | undefined;
}

/**
 * The permissions of one scope: a mode for all operations, or rules. The deepest matching rule
 * decides. If several matching rules have that depth, a rule that denies decides.
 */
export type PermissionRules<Rule> =
  | PermissionMode
  | {
      /** The mode of an operation that no rule matches. @default 'deny' */
      default?: PermissionMode | undefined;
      rules: readonly Rule[];
    };

/**
 * The permissions of a runtime's programs. Calls of the app itself, such as `runtime.readFile()`,
 * are not checked.
 */
export interface PermissionsPolicy {
  /** Files. @default 'allow' */
  fs?: PermissionRules<FsPermissionRule> | undefined;
  /** Sockets. @default connections inside the runtime: patterns `localhost` and `unix:*` */
  network?: PermissionRules<PatternPermissionRule<'network'>> | undefined;
  /** Starting programs. @default 'allow' */
  childProcess?: PermissionRules<PatternPermissionRule<'childProcess'>> | undefined;
  /** Signals to other processes, the working directory, process groups. @default 'allow' */
  process?: PermissionRules<PatternPermissionRule<'process'>> | undefined;
  /** Environment variables of the programs. @default 'allow' */
  env?: PermissionRules<PatternPermissionRule<'env'>> | undefined;
  /** Bindings. @default 'allow' */
  binding?: PermissionRules<PatternPermissionRule<'binding'>> | undefined;
}

/** A policy with the permissions of every scope. */
export type CompletePolicy = { readonly [S in PermissionScope]: NonNullable<PermissionsPolicy[S]> };

/** The result of one permission check. */
export interface PermissionEvent {
  readonly scope: PermissionScope;
  readonly operation: string;
  /** The checked resource, such as the path, the address, or the name of the variable. */
  readonly resource: string;
  readonly decision: PermissionMode;
  /**
   * The index of the deciding rule in the scope's `rules`. Absent if no rule matched, so that the
   * default decided.
   */
  readonly rule?: number;
  /**
   * The pattern of the deciding rule that matched, as the app wrote the pattern. Absent if no rule
   * decided, or if the rule applies to every resource.
   */
  readonly pattern?: string;
  /**
   * The sentence that explains a denied operation, as in the program's error. Absent for an allowed
   * operation.
   */
  readonly reason?: string;
  /**
   * The pid of the process that made the call, or that receives the environment variable. Absent if
   * the app made the call.
   */
  readonly pid?: number;
  /** The time of the decision in milliseconds since 1970. */
  readonly time: number;
}

/** The operations of each scope, in the order of the sidecar's table. */
export const OPERATIONS: { readonly [S in PermissionScope]: readonly PermissionOperations[S][] } = {
  fs: [
    'read',
    'write',
    'stat',
    'readdir',
    'create_dir',
    'rm',
    'rename',
    'symlink',
    'link',
    'readlink',
    'chmod',
    'chown',
    'utimes',
    'truncate',
    'watch',
    'execute',
  ],
  network: ['listen', 'connect', 'udp', 'dns'],
  childProcess: ['spawn'],
  process: ['signal', 'chdir', 'setpgid'],
  env: ['read', 'write'],
  binding: ['call'],
};

/** All scopes. */
export const SCOPES = Object.keys(OPERATIONS) as PermissionScope[];

/** Names of operations in other libraries, and the names in this package. */
const OTHER_OPERATIONS: Readonly<Record<string, string>> = {
  __proto__: null as never,
  open: 'read and write',
  unlink: 'rm',
  rmdir: 'rm',
  remove: 'rm',
  delete: 'rm',
  mkdir: 'create_dir',
  createDir: 'create_dir',
  list: 'readdir',
  exists: 'stat',
  lstat: 'stat',
  access: 'stat',
  append: 'write',
  copy: 'read and write',
  bind: 'listen',
  fetch: 'connect',
  http: 'connect',
  lookup: 'dns',
  send: 'udp',
  fork: 'spawn',
  exec: 'spawn',
  kill: 'signal',
  set: 'write',
  get: 'read',
};

const MAX_PATTERN = 4_095;
const RULE_PATH = /^(?:\/|\*\*$|\*\*\/)[^\0]*$/s;

const isPattern = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_PATTERN && !value.includes('\0');
const isRulePath = (value: unknown): boolean =>
  isPattern(value) && RULE_PATH.test(value) && !value.split('/').some((name) => name === '.' || name === '..');

const MODE_EXPECTED = "'allow' or 'deny'";
const MODE = oneOf(['allow', 'deny'], MODE_EXPECTED);
const SCOPE_EXPECTED = `${MODE_EXPECTED}, or { default?, rules }`;

const PATH = rule(isRulePath, 'an absolute guest path, or one that begins with **/, without . and ..');
const PATTERN = rule(isPattern, 'text of 1 to 4095 characters without NUL');

function operationOf(scope: PermissionScope): Rule {
  const names: readonly unknown[] = OPERATIONS[scope];
  const expected = `an operation of ${scope}: ${OPERATIONS[scope].join(', ')}`;
  return {
    expected,
    fault(value): Fault | undefined {
      if (names.includes(value)) return undefined;
      const right = typeof value === 'string' ? OTHER_OPERATIONS[value] : undefined;
      return { path: [], expected, received: value, hint: right && `It is called \`${right}\`.` };
    },
  };
}

function rulesOf(scope: PermissionScope): Rule {
  const operations = known(listOf(operationOf(scope), `a list of operations: ${OPERATIONS[scope].join(', ')}`), [
    'operation',
    'ops',
  ]);
  const mode = known(required(MODE), ['decision', 'verdict']);
  const isFs = scope === 'fs';
  const resources: AnyTable = isFs
    ? { paths: known(listOf(PATH, 'a list of guest paths'), ['path']) }
    : { patterns: known(listOf(PATTERN, 'a list of patterns'), ['pattern', 'hosts']) };
  const one = objectWith({ mode, operations, ...resources }, `a rule: { mode, operations?, ${isFs ? 'paths' : 'patterns'}? }`);
  const other = isFs ? 'patterns' : 'paths';
  const hint = isFs ? 'In fs it is `paths`.' : 'Only fs has `paths`; elsewhere it is `patterns`.';
  const fault = (value: unknown): Fault | undefined => {
    const found = one.fault(value);
    return found?.path.length === 1 && found.path[0] === other ? { ...found, hint } : found;
  };
  return objectWith(
    {
      default: MODE,
      rules: known(required(listOf({ ...one, fault }, 'a list of rules')), ['allow', 'deny']),
    },
    SCOPE_EXPECTED,
  );
}

function scopeOf(scope: PermissionScope): Rule {
  // The rules are made for the first policy that has rules, because most apps have no such policy.
  let rules: Rule | undefined;
  return {
    expected: SCOPE_EXPECTED,
    fault(value) {
      if (value === 'allow' || value === 'deny') return undefined;
      if (!isObject(value)) return { path: [], expected: SCOPE_EXPECTED, received: value };
      rules ??= rulesOf(scope);
      return rules.fault(value);
    },
  };
}

const POLICY: OptionTable<PermissionsPolicy> = {
  fs: known(scopeOf('fs'), ['filesystem', 'files']),
  network: known(scopeOf('network'), ['net']),
  childProcess: known(scopeOf('childProcess'), ['child_process', 'childProcesses', 'exec']),
  process: scopeOf('process'),
  env: known(scopeOf('env'), ['environment']),
  binding: known(scopeOf('binding'), ['bindings', 'tool', 'tools']),
};

/**
 * Accepts a policy. The names in a policy are no options of other calls, so hints are searched only
 * in the policy.
 */
export const PERMISSIONS: Rule = {
  ...objectWith(POLICY, `a policy: { ${SCOPES.join('?, ')}? }`),
  inner: undefined,
};
