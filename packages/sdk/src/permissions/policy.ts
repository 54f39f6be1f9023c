// Converts policies to messages and back, and computes the policy in force. The sidecar uses its
// default for each scope that a message omits. Next: `runtime-permissions.ts`.

import { frozenCopy } from '../frozen-copy.js';
import { type CompletePolicy, type PermissionMode, type PermissionsPolicy, SCOPES } from '../options/permissions.js';
import type { PermissionRule, PermissionScope, Permissions } from '../protocol/generated/messages.js';

/** The policy of a runtime without the option `permissions`. */
const DEFAULT_POLICY: CompletePolicy = {
  fs: 'allow',
  network: { default: 'deny', rules: [{ mode: 'allow', patterns: ['localhost', 'unix:*'] }] },
  childProcess: 'allow',
  process: 'allow',
  env: 'allow',
  binding: 'allow',
};

/**
 * The scope `network` of a runtime whose app sets the option `network`, but not the scope. The
 * scope allows connections inside the runtime, and what the option `network` allows.
 */
const OUTSIDE_SCOPE: CompletePolicy['network'] = {
  default: 'deny',
  rules: [
    { mode: 'allow', patterns: ['localhost', 'unix:*'] },
    { mode: 'allow', operations: ['connect', 'dns', 'udp'] },
  ],
};

/** The common shape of the rules of all scopes. */
interface AnyRules {
  default?: PermissionMode;
  rules: readonly {
    mode: PermissionMode;
    operations?: readonly string[];
    paths?: readonly string[];
    patterns?: readonly string[];
  }[];
}

/** Converts a checked policy to a message. */
export function wirePolicy(policy: PermissionsPolicy): Permissions {
  const wire: Permissions = {};
  for (const scope of SCOPES) {
    const permissions = policy[scope];
    if (permissions === undefined) continue;
    wire[scope] = typeof permissions === 'string' ? { default: permissions } : wireScope(permissions);
  }
  return wire;
}

function wireScope({ default: mode = 'deny', rules }: AnyRules): PermissionScope {
  const wireRule = ({ mode, operations, paths, patterns = paths }: AnyRules['rules'][number]): PermissionRule => ({
    mode,
    operations,
    patterns,
  });
  return { default: mode, rules: rules.map(wireRule) };
}

/** Converts a message to the policy that the message was made from. */
export function policyOf(wire: Permissions): PermissionsPolicy {
  const policy: Record<string, unknown> = {};
  for (const scope of SCOPES) {
    const permissions = wire[scope];
    if (permissions === undefined) continue;
    const resources = scope === 'fs' ? 'paths' : 'patterns';
    const rules = permissions.rules?.map(({ mode, operations, patterns }) => ({
      mode,
      ...(operations === undefined ? {} : { operations }),
      ...(patterns === undefined ? {} : { [resources]: patterns }),
    }));
    policy[scope] = rules === undefined || rules.length === 0 ? permissions.default : { default: permissions.default, rules };
  }
  return policy as PermissionsPolicy;
}

/**
 * Returns a policy merged over the default, as a frozen copy. `hasOutside` states whether the
 * runtime has the option `network`.
 */
export function policyInForce(policy: PermissionsPolicy = {}, hasOutside = false): CompletePolicy {
  const merged = { ...DEFAULT_POLICY, ...(hasOutside && { network: OUTSIDE_SCOPE }) };
  for (const scope of SCOPES) if (policy[scope] !== undefined) Object.assign(merged, { [scope]: policy[scope] });
  return frozenCopy(merged);
}
