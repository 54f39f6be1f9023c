// Policies as zod schemas, and the sentences that lead from a wrong name to the right one. Next: `schemas.ts`.

import * as z from 'zod/mini';
import type { PermissionScope } from './permission-types.js';
import { isPattern, isRulePath, OPERATIONS, SCOPES } from './permissions.js';

const MODE = "'allow' or 'deny'";
const RULES = `${MODE}, or { default?, rules }`;
const strict = <T extends z.core.$ZodLooseShape>(shape: T, error: string) =>
  z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : error) });
const mode = z.enum(['allow', 'deny'], { error: MODE });

const PATHS = 'an absolute guest path, or one that begins with **/, without . and ..';
const paths = z.optional(z.array(z.custom<string>(isRulePath, { error: PATHS }), { error: 'a list of guest paths' }));
const patterns = z.optional(
  z.array(z.custom<string>(isPattern, { error: 'text of 1 to 4095 characters without NUL' }), { error: 'a list of patterns' }),
);

function ruleOf(scope: PermissionScope) {
  const error = `an operation of ${scope}: ${OPERATIONS[scope].join(', ')}`;
  const known: readonly unknown[] = OPERATIONS[scope];
  const operation = z.custom<string>((value) => known.includes(value), { error });
  const operations = z.optional(z.array(operation, { error: `a list of operations: ${OPERATIONS[scope].join(', ')}` }));
  const whole = 'a rule: { mode, operations?, ';
  return scope === 'fs'
    ? strict({ mode, operations, paths }, `${whole}paths? }`)
    : strict({ mode, operations, patterns }, `${whole}patterns? }`);
}

const scopeOf = (scope: PermissionScope) =>
  z.optional(
    z.union([mode, strict({ default: z.optional(mode), rules: z.array(ruleOf(scope), { error: 'a list of rules' }) }, RULES)]),
  );

/** `permissions`, and the argument of `setPermissions()`. */
export const permissionsPolicy = strict(
  Object.fromEntries(SCOPES.map((scope) => [scope, scopeOf(scope)])),
  `a policy: { ${SCOPES.join('?, ')}? }`,
);

/** An issue of zod, as far as it is looked at here. */
export interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
  readonly errors?: readonly (readonly Issue[])[];
}

/** Of what a scope may be, what was meant: a mode, or an object with rules. */
export function meant(issue: Issue, value: unknown): Issue {
  const inner = issue.errors?.[typeof value === 'object' && value !== null ? 1 : 0]?.[0];
  if (issue.code !== 'invalid_union' || inner === undefined) return issue;
  if (inner.path.length === 0 && inner.code !== 'unrecognized_keys') return { ...inner, path: issue.path, message: RULES };
  return { ...inner, path: [...issue.path, ...inner.path] };
}

/** The names that there are at `path` below a policy. */
export function knownNames(path: readonly PropertyKey[]): string[] {
  if (path.length === 0) return SCOPES;
  if (path.length === 1) return ['default', 'rules'];
  return ['mode', 'operations', path[0] === 'fs' ? 'paths' : 'patterns'];
}

const FOREIGN: Readonly<Record<string, string>> = {
  __proto__: null as never,
  filesystem: 'fs',
  files: 'fs',
  net: 'network',
  child_process: 'childProcess',
  childProcesses: 'childProcess',
  exec: 'childProcess',
  environment: 'env',
  bindings: 'binding',
  tool: 'binding',
  tools: 'binding',
  allow: 'rules',
  deny: 'rules',
  decision: 'mode',
  verdict: 'mode',
  operation: 'operations',
  ops: 'operations',
  path: 'paths',
  pattern: 'patterns',
  hosts: 'patterns',
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
  kill: 'signal',
  set: 'write',
  get: 'read',
};

/** A sentence about a name that is none here, if something is known of it; `path` ends with it, or with where it stands. */
export function permissionHint(path: readonly PropertyKey[], value: unknown): string | undefined {
  const last = path.at(-1);
  if (last === 'paths') return 'Only fs has `paths`; elsewhere it is `patterns`.';
  if (last === 'patterns' && path.at(-4) === 'fs') return 'In fs it is `paths`.';
  const name = typeof value === 'string' && typeof last === 'number' ? value : String(last);
  const right = FOREIGN[name];
  return right === undefined ? undefined : `It is called \`${right}\`.`;
}
