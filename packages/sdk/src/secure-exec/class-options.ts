// The options of `NodeRuntime.create()` of secure-exec 0.3 as options of the SDK. The SDK checks
// every option that both have.

import { invalidOption } from '../errors/make.js';
import type { Bindings, NodeRuntimeOptions, PermissionsPolicy, Sidecar } from '../index.js';
import { isObject, type Rule } from '../options/rule.js';
import { type OptionTable, objectWith } from '../options/table.js';
import { checkOptions } from './check.js';
import { flatLimits, NESTED_LIMITS, type NestedLimits } from './limits.js';
import { DEFAULT_CWD, isPackagePath, withPackageMounts } from './package-mounts.js';
import { ownPermissions, type Permissions } from './permissions.js';
import { LOOPBACK_EXEMPT_PORTS, PASSED_ON, without } from './rules.js';
import type { BindingDefinition, HostDirectoryMount, NodeModulesMount, NodeRuntimeBootTiming } from './types.js';

const CALL = 'NodeRuntime.create()';

/** Options of `NodeRuntime.create()`. */
export interface NodeRuntimeCreateOptions {
  /** Environment of the programs. @default {} */
  env?: Readonly<Record<string, string>> | undefined;
  /** Working directory of the programs. @default '/workspace' */
  cwd?: string | undefined;
  /** Permissions, merged over the default: all scopes are allowed, except `network`. */
  permissions?: Permissions | undefined;
  /** Initial files by their absolute guest paths. */
  files?: Readonly<Record<string, string | Uint8Array>> | undefined;
  /** Folders of the host machine, read-only unless `readOnly` is `false`. */
  mounts?: readonly HostDirectoryMount[] | undefined;
  /** A `node_modules` folder of the host machine. Programs can import its packages. */
  nodeModules?: string | NodeModulesMount | undefined;
  /** Functions of the app that programs can call. */
  bindings?: Readonly<Record<string, BindingDefinition>> | undefined;
  /** `bindings`, by its name in earlier releases. */
  tools?: Readonly<Record<string, BindingDefinition>> | undefined;
  /** The sidecar of the runtime. @default a new process, which ends with the runtime */
  sidecar?: Sidecar | undefined;
  /** Limits by subsystem. */
  limits?: NestedLimits | undefined;
  /**
   * Must be empty: programs of this module have no connections to the host machine or to other
   * machines.
   */
  loopbackExemptPorts?: readonly number[] | undefined;
  /** Must be absent: `sh` and the other commands are parts of the package. */
  commandsDir?: undefined;
  /** Receives the duration of each step of a start. */
  onBootTiming?: ((timing: NodeRuntimeBootTiming) => void) | undefined;
}

const TABLE: OptionTable<NodeRuntimeCreateOptions> = {
  env: PASSED_ON,
  cwd: PASSED_ON,
  permissions: PASSED_ON,
  files: PASSED_ON,
  mounts: PASSED_ON,
  nodeModules: PASSED_ON,
  bindings: PASSED_ON,
  tools: PASSED_ON,
  sidecar: PASSED_ON,
  limits: NESTED_LIMITS,
  loopbackExemptPorts: LOOPBACK_EXEMPT_PORTS,
  commandsDir: without('`sh` and the other commands are parts of the package'),
  onBootTiming: PASSED_ON,
};
const RULE: Rule = objectWith(TABLE);

/** Converts the options. Throws `ERR_INVALID_OPTION` for options that only this module has. */
export function ownOptions(options: NodeRuntimeCreateOptions): NodeRuntimeOptions {
  checkOptions(CALL, RULE, options);
  const { permissions, mounts, nodeModules, bindings, tools, limits, loopbackExemptPorts, commandsDir, ...same } = options;
  const cwd = typeof same.cwd === 'string' ? same.cwd : DEFAULT_CWD;
  return {
    ...same,
    permissions: withoutNetwork(ownPermissions(CALL, permissions)),
    mounts: Array.isArray(mounts) ? withPackageMounts(mounts, cwd) : mounts,
    nodeModules: ownModules(nodeModules),
    bindings: eitherName(bindings, tools),
    limits: flatLimits(limits),
  };
}

// A value that is no policy is passed on, for the SDK to refuse.
function withoutNetwork(policy: PermissionsPolicy = {}): PermissionsPolicy {
  return isObject(policy) ? { network: 'deny', ...(policy as PermissionsPolicy) } : policy;
}

// The default of the SDK has the same effect as these two folders have in secure-exec.
function ownModules(nodeModules: string | NodeModulesMount | undefined): string | NodeModulesMount | undefined {
  if (typeof nodeModules !== 'object' || nodeModules === null) return nodeModules;
  const { guestPath } = nodeModules;
  return typeof guestPath === 'string' && isPackagePath(guestPath) ? { ...nodeModules, guestPath: undefined } : nodeModules;
}

function eitherName(bindings: Bindings | undefined, tools: Bindings | undefined): Bindings | undefined {
  if (bindings === undefined || tools === undefined) return bindings ?? tools;
  throw invalidOption(CALL, { option: 'tools', expected: 'one of `bindings` and `tools`', received: 'both' });
}
