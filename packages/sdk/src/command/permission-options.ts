// Converts `--allow-SCOPE` and `--deny-SCOPE` to a policy. The names of scopes and operations are
// the names of the SDK's table, with hyphens: `--allow-child-process`, `--deny-fs-write=/etc`.
//
// A scope with an `--allow` of single operations or resources denies everything else. A scope with
// only `--deny` allows everything else.

import { invalidOption } from '../errors/make.js';
import { nearest } from '../options/hints.js';
import { OPERATIONS, type PermissionMode, type PermissionScope, SCOPES } from '../options/permissions.js';
import { nameOf } from './parse.js';
import type { Arguments } from './subcommand.js';

interface Rule {
  mode: PermissionMode;
  operations?: readonly string[];
  paths?: readonly string[];
  patterns?: readonly string[];
}

/** A policy whose patterns are not checked yet. */
export type UncheckedPolicy = { [S in PermissionScope]?: PermissionMode | { default: PermissionMode; rules: Rule[] } };

interface Target {
  scope: PermissionScope;
  operation?: string;
}

const hyphened = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-');

/** Every name after `allow-` and `deny-`: scopes, and scopes with one operation. */
export const PERMISSION_NAMES: ReadonlyMap<string, Target> = new Map(
  SCOPES.flatMap((scope): [string, Target][] => [
    [hyphened(scope), { scope }],
    ...OPERATIONS[scope].map((operation): [string, Target] => [hyphened(`${scope}-${operation}`), { scope, operation }]),
  ]),
);

/** Returns the policy of all `--allow-...` and `--deny-...`, or `undefined` if there is none. */
export function policyOf({ subcommand, flags }: Arguments): UncheckedPolicy | undefined {
  const policy: UncheckedPolicy = {};
  for (const [flag, values] of flags) {
    const [, word, name] = /^(allow|deny)-(.*)$/.exec(flag) ?? [];
    if (word === undefined || name === undefined) continue;
    const target = PERMISSION_NAMES.get(name) ?? unknown(nameOf(subcommand), flag, word, name);
    for (const value of values) add(policy, word as PermissionMode, target, value);
  }
  return Object.keys(policy).length === 0 ? undefined : policy;
}

function unknown(where: string, flag: string, word: string, name: string): never {
  const right = nearest(name, [...PERMISSION_NAMES.keys()]);
  const hint = right === undefined ? undefined : `It is spelled \`--${word}-${right}\`.`;
  const scopes = SCOPES.map(hyphened).join(', ');
  throw invalidOption(
    where,
    { option: `--${flag}`, expected: `--${word}-SCOPE with one of ${scopes}`, received: `--${flag}` },
    hint,
  );
}

function add(policy: UncheckedPolicy, mode: PermissionMode, { scope, operation }: Target, value: string | true): void {
  const present = policy[scope];
  if (operation === undefined && value === true) {
    // The whole scope: the rules of other options are exceptions.
    policy[scope] = typeof present === 'object' ? { ...present, default: mode } : mode;
    return;
  }
  const resources = value === true ? {} : { [scope === 'fs' ? 'paths' : 'patterns']: value.split(',') };
  const rule: Rule = { mode, ...(operation !== undefined && { operations: [operation] }), ...resources };
  if (typeof present === 'object') {
    if (mode === 'allow' && !present.rules.some((other) => other.mode === 'allow')) present.default = 'deny';
    present.rules.push(rule);
  } else policy[scope] = { default: present ?? (mode === 'allow' ? 'deny' : 'allow'), rules: [rule] };
}
