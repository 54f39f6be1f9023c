// The permissions of secure-exec as permissions of the SDK. Only the name of one scope differs
// between the releases of secure-exec: `tool`, `binding` and `hostFunction` are one scope.

import { invalidOption } from '../errors/make.js';
import type { PermissionsPolicy } from '../index.js';
import { isObject } from '../options/rule.js';

/** A policy. Omitted scopes have the default of the call. */
export interface Permissions extends PermissionsPolicy {
  /** The scope `binding`, by its name in releases with `tools`. */
  tool?: PermissionsPolicy['binding'];
  /** The scope `binding`, by its name in releases with `hostFunctions`. */
  hostFunction?: PermissionsPolicy['binding'];
}

const OTHER_NAMES = ['tool', 'hostFunction'] as const;

/** Renames the scope of bindings. The SDK checks the result. */
export function ownPermissions(call: string, permissions: Permissions | undefined): PermissionsPolicy | undefined {
  if (!isObject(permissions)) return permissions;
  const { tool, hostFunction, ...own } = permissions as Permissions;
  const scopes = [own.binding, tool, hostFunction].filter((scope) => scope !== undefined);
  if (scopes.length > 1) {
    const option = `permissions.${tool === undefined ? OTHER_NAMES[1] : OTHER_NAMES[0]}`;
    throw invalidOption(call, { option, expected: 'one of `binding`, `tool` and `hostFunction`', received: 'several' });
  }
  return scopes.length === 0 ? own : { ...own, binding: scopes[0] };
}
