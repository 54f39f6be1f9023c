// The options of `createVm()` of secure-exec 0.2.21 as options of the SDK. Options of agents, and
// of software that secure-exec downloads, are refused.

import type { NodeRuntimeOptions, LimitWarning as OwnLimitWarning, Sidecar } from '../index.js';
import { CALLBACK, FLAG, oneOf, type Rule, rule } from '../options/rule.js';
import { type OptionTable, objectWith, required } from '../options/table.js';
import { checkOptions } from './check.js';
import { bindingsOf, HOST_FUNCTIONS, type HostFunctionCollections } from './host-functions.js';
import { flatLimits, NESTED_LIMITS, type NestedLimits } from './limits.js';
import { MOUNTS, type MountConfig, ownMounts } from './mounts.js';
import { DEFAULT_CWD, withPackageMounts } from './package-mounts.js';
import { ownPermissions, type Permissions } from './permissions.js';
import { LOOPBACK_EXEMPT_PORTS, PASSED_ON, without } from './rules.js';

/** A warning: the use of a limit has reached 80 %. */
export interface LimitWarning {
  /** The name of the limit in the SDK, such as `descriptors`. */
  limit: string;
  category: 'memory' | 'resource';
  observed: number;
  capacity: number;
  fillPercent: number;
}

/** Options of `createVm()`. */
export interface VmOptions {
  /** Permissions, merged over the default: all scopes, and the network inside the VM. */
  permissions?: Permissions | undefined;
  limits?: NestedLimits | undefined;
  mounts?: readonly MountConfig[] | undefined;
  /** Collections of functions of the app. Each is a global and a command in the guest. */
  hostFunctions?: HostFunctionCollections | undefined;
  /** The sidecar. @default the shared sidecar of this module */
  sidecar?: { kind: 'shared' } | { kind: 'explicit'; handle: Sidecar } | undefined;
  onLimitWarning?: ((warning: LimitWarning) => void) | undefined;
  /** Has no effect: `sh` and the other commands need no installation. */
  defaultSoftware?: boolean | undefined;
  /** Has no effect: clocks always have their full resolution. */
  highResolutionTime?: boolean | undefined;
  /**
   * Must be empty: programs of this module have no connections to the host machine or to other
   * machines.
   */
  loopbackExemptPorts?: readonly number[] | undefined;
}

const SIDECAR_TABLE: OptionTable<{ kind: string; handle: Sidecar; pool: string }> = {
  kind: required(oneOf(['shared', 'explicit'], "'shared' or 'explicit'")),
  handle: rule((value) => typeof value === 'object' && value !== null, 'a Sidecar'),
  pool: without('there is one shared sidecar; use `explicit` for another'),
};

const TABLE: OptionTable<VmOptions> = {
  permissions: PASSED_ON,
  limits: NESTED_LIMITS,
  mounts: MOUNTS,
  hostFunctions: HOST_FUNCTIONS,
  sidecar: objectWith(SIDECAR_TABLE),
  onLimitWarning: CALLBACK,
  defaultSoftware: FLAG,
  highResolutionTime: FLAG,
  loopbackExemptPorts: LOOPBACK_EXEMPT_PORTS,
};

const OF_AGENTS = without('agents are not a part of this package');
const REFUSED = {
  user: without('programs run as the user 1000 of the guest'),
  software: without('mount packages with `nodeModulesMount()`'),
  allowedNodeBuiltins: without('the modules of Node are parts of the guest; use `permissions`'),
  database: without('files of a runtime are kept by snapshots of the SDK'),
  rootFilesystem: without('files of a runtime are kept by snapshots of the SDK'),
  sandbox: OF_AGENTS,
  scheduleDriver: OF_AGENTS,
  onAgentStderr: OF_AGENTS,
  onAgentExit: OF_AGENTS,
};
const RULE: Rule = objectWith({ ...TABLE, ...REFUSED });

/** The names of the options of a VM, for calls that also have options of an execution. */
export const VM_OPTION_NAMES: ReadonlySet<string> = new Set([...Object.keys(TABLE), ...Object.keys(REFUSED)]);

/** Throws `ERR_INVALID_OPTION` for wrong options. */
export function checkVmOptions(call: string, options: VmOptions): void {
  checkOptions(call, RULE, options);
}

/** Converts checked options. */
export function ownVmOptions(call: string, options: VmOptions, sidecar: Sidecar): NodeRuntimeOptions {
  const { permissions, limits, mounts, hostFunctions, onLimitWarning } = options;
  return {
    sidecar,
    permissions: ownPermissions(call, permissions),
    limits: flatLimits(limits),
    mounts: withPackageMounts(ownMounts(mounts), DEFAULT_CWD),
    bindings: hostFunctions && bindingsOf(hostFunctions),
    onLimitWarning: onLimitWarning && ((warning) => onLimitWarning(warningOf(warning))),
  };
}

const warningOf = ({ limit, used, max }: OwnLimitWarning): LimitWarning => ({
  limit,
  category: /memory/i.test(limit) ? 'memory' : 'resource',
  observed: used,
  capacity: max,
  fillPercent: (100 * used) / max,
});
