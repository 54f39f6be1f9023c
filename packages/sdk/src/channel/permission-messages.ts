// The messages about permissions with their checks, in the order of `docs/internals/protocol.md`.

import { protocolError } from '../errors/make.js';
import type { PermissionMode, PermissionScope } from '../options/permissions.js';

/**
 * `permissions` of runtime.create and permissions.set. An omitted scope has the sidecar's default.
 */
export type WirePermissions = { [S in PermissionScope]?: WireScope };

/** The permissions of one scope. */
export interface WireScope {
  default: PermissionMode;
  rules?: readonly WireRule[];
}

/** One rule. An omitted field stands for everything. */
export interface WireRule {
  mode: PermissionMode;
  operations?: readonly string[];
  patterns?: readonly string[];
}

/** permissions.set: replaces the whole policy. */
export interface PermissionsSet {
  runtime: number;
  permissions: WirePermissions;
}

/** permissions.watch: starts or stops permissions.events. */
export interface PermissionsWatch {
  runtime: number;
  on: boolean;
}

/** permissions.taken: the next permissions.events may be sent. */
export interface PermissionsTaken {
  runtime: number;
}

/**
 * permissions.events: decisions in order, and the number of decisions that were lost after them.
 */
export interface PermissionsEvents {
  runtime: number;
  events: WirePermissionEvent[];
  lost: number;
}

/** A decision. */
export interface WirePermissionEvent {
  scope: PermissionScope;
  operation: string;
  resource: string;
  decision: PermissionMode;
  rule?: number;
  pid: number;
  timeUs: number;
}

/** Receives decisions and may keep them. Does not throw. */
export type PermissionsListener = (taken: Pick<PermissionsEvents, 'events' | 'lost'>) => void;

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
const isNatural = (value: unknown): boolean => typeof value === 'number' && value >= 0;

function isEvent(event: unknown): boolean {
  if (!isMap(event)) return false;
  const { scope, operation, resource, decision, rule, pid, timeUs } = event;
  const texts = [scope, operation, resource].every((text) => typeof text === 'string');
  return texts && (decision === 'allow' || decision === 'deny') && [rule ?? 0, pid, timeUs].every(isNatural);
}

/** Checks permissions.events. */
export function permissionsEvents(body: unknown): PermissionsEvents {
  const valid = isMap(body) && isNatural(body['runtime']) && isNatural(body['lost']) && Array.isArray(body['events']);
  if (!valid || !(body['events'] as unknown[]).every(isEvent))
    throw protocolError('permissions.events is not a list of decisions');
  return body as unknown as PermissionsEvents;
}
