// The messages about permissions; part of `messages.ts`, in the order of `docs/internals/protocol.md`, with their checks.

import { protocolError } from '../errors/make.js';
import type { PermissionMode, PermissionScope } from '../options/permission-types.js';

/** `permissions` of runtime.create and permissions.set; a scope that is left out has the sidecar's default. */
export type WirePermissions = { [S in PermissionScope]?: WireScope };

/** What a policy says in one scope. */
export interface WireScope {
  default: PermissionMode;
  rules?: readonly WireRule[];
}

/** One rule; what is left out is all. */
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

/** permissions.watch: hear of decisions from now on, or not any more. */
export interface PermissionsWatch {
  runtime: number;
  on: boolean;
}

/** permissions.taken: the next permissions.events may come. */
export interface PermissionsTaken {
  runtime: number;
}

/** permissions.events: decisions in order, and how many were lost after the last of them. */
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

/** Takes decisions, for good. Does not throw. */
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

/** permissions.events, checked. */
export function permissionsEvents(body: unknown): PermissionsEvents {
  const valid = isMap(body) && isNatural(body['runtime']) && isNatural(body['lost']) && Array.isArray(body['events']);
  if (!valid || !(body['events'] as unknown[]).every(isEvent))
    throw protocolError('permissions.events is not a list of decisions');
  return body as unknown as PermissionsEvents;
}
