// Policies: the names that there are, whether one is well formed, and what the sidecar gets of it. The sidecar has the last word about patterns.
// Next: `permission-schemas.ts`, which says what is wrong.

import type { WirePermissions, WireRule, WireScope } from '../channel/permission-messages.js';
import type { PermissionMode, PermissionOperations, PermissionScope, PermissionsPolicy } from './permission-types.js';

/** The operations of each scope, in the order of the sidecar's. */
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

export const SCOPES = Object.keys(OPERATIONS) as PermissionScope[];

/** The policy of a runtime that is given none. */
export const DEFAULT_POLICY: Required<PermissionsPolicy> = {
  fs: 'allow',
  network: { default: 'deny', rules: [{ mode: 'allow', patterns: ['localhost', 'unix:*'] }] },
  childProcess: 'allow',
  process: 'allow',
  env: 'allow',
  binding: 'allow',
};

const MAX_PATTERN = 4_095;
// Names of the path are checked by themselves: neither `.` nor `..` is one.
const PATH = /^(?:\/|\*\*$|\*\*\/)[^\0]*$/s;

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isMode = (value: unknown): boolean => value === 'allow' || value === 'deny';
const isList = (value: unknown, one: (value: unknown) => boolean): boolean =>
  value === undefined || (Array.isArray(value) && value.every(one));
const only = (value: Fields, names: readonly string[]): boolean => {
  // What is inherited counts: an instance of something is no policy.
  for (const name in value) if (!names.includes(name)) return false;
  return true;
};

/** Whether `value` may be a path of a rule. */
export const isRulePath = (value: unknown): boolean =>
  isPattern(value) && PATH.test(value as string) && !(value as string).split('/').some((name) => name === '.' || name === '..');

/** Whether `value` may be a pattern of a rule. */
export const isPattern = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && value.length <= MAX_PATTERN && !value.includes('\0');

function isRule(scope: PermissionScope, value: unknown): boolean {
  const [name, one] = scope === 'fs' ? (['paths', isRulePath] as const) : (['patterns', isPattern] as const);
  const operations: readonly unknown[] = OPERATIONS[scope];
  return (
    isObject(value) &&
    only(value, ['mode', 'operations', name]) &&
    isMode(value['mode']) &&
    isList(value['operations'], (operation) => operations.includes(operation)) &&
    isList(value[name], one)
  );
}

function isScope(scope: PermissionScope, value: unknown): boolean {
  if (value === undefined || isMode(value)) return true;
  if (!isObject(value) || !only(value, ['default', 'rules']) || !Array.isArray(value['rules'])) return false;
  return (value['default'] === undefined || isMode(value['default'])) && value['rules'].every((rule) => isRule(scope, rule));
}

/** Whether `value` is certainly a policy, as far as that can be seen here. */
export const isPolicy = (value: unknown): boolean =>
  isObject(value) && only(value, SCOPES) && SCOPES.every((scope) => isScope(scope, value[scope]));

/** A checked policy as the sidecar takes it; a scope that says nothing has the sidecar's default. */
export function wirePolicy(policy: PermissionsPolicy): WirePermissions {
  const wire: WirePermissions = {};
  for (const scope of SCOPES) {
    const given = policy[scope];
    if (given !== undefined) wire[scope] = typeof given === 'string' ? { default: given } : wireRules(given);
  }
  return wire;
}

// What the rules of all scopes have in common.
interface RuleSet {
  default?: PermissionMode;
  rules: readonly {
    mode: PermissionMode;
    operations?: readonly string[];
    paths?: readonly string[];
    patterns?: readonly string[];
  }[];
}

function wireRules({ default: otherwise = 'deny', rules }: RuleSet): WireScope {
  const rule = ({ mode, operations, paths, patterns = paths }: RuleSet['rules'][number]): WireRule => ({
    mode,
    operations,
    patterns,
  });
  return { default: otherwise, rules: rules.map(rule) };
}

/** The same back: a policy that came from the sidecar, which was given it once. */
export function policyOf(wire: WirePermissions): PermissionsPolicy {
  const policy: Record<string, unknown> = {};
  for (const scope of SCOPES) {
    const given = wire[scope];
    if (given === undefined) continue;
    const name = scope === 'fs' ? 'paths' : 'patterns';
    const rules = given.rules?.map(({ mode, operations, patterns }) => ({
      mode,
      ...(operations === undefined ? {} : { operations }),
      ...(patterns === undefined ? {} : { [name]: patterns }),
    }));
    policy[scope] = rules === undefined || rules.length === 0 ? given.default : { default: given.default, rules };
  }
  return policy as PermissionsPolicy;
}

/** The whole of what is in force with a policy: a copy that nobody can change. */
export function inForce(policy: PermissionsPolicy = {}): Readonly<Required<PermissionsPolicy>> {
  const whole = { ...DEFAULT_POLICY };
  for (const scope of SCOPES) if (policy[scope] !== undefined) Object.assign(whole, { [scope]: policy[scope] });
  return frozen(structuredClone(whole));
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
