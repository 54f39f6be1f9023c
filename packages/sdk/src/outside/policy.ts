// The connections out of a runtime: converts options and changes to messages, and computes the
// options after a change. The sidecar makes the same change. Next: `runtime-outside.ts`.

import { frozenCopy } from '../frozen-copy.js';
import type {
  NetworkCa,
  NetworkChange,
  NetworkDns,
  NetworkHttpRule,
  NetworkLimits,
  NetworkOptions,
  NetworkUpdateOptions,
} from '../options/outside.js';
import type {
  OutsideHost,
  OutsideHttpRule,
  OutsideOptions,
  OutsideSecret,
  OutsideUpdate,
  RuntimeId,
} from '../protocol/generated/messages.js';
import { handlerNumber } from './handler-numbers.js';

/** Milliseconds until the head of the response of a function. */
const DEFAULT_HANDLE_MS = 30_000;

/** The field of a message for each field of the options. */
const FIELDS = ['outside', 'allow', 'deny', 'private', 'http', 'localAddress', 'proxy'] as const;

/** Converts checked options to a message. */
export function wireOutside(options: NetworkOptions, secrets?: readonly OutsideSecret[]): OutsideOptions {
  const wire: Record<string, unknown> = {};
  if (secrets !== undefined && secrets.length > 0) wire['secrets'] = secrets;
  for (const name of FIELDS) if (options[name] !== undefined) wire[name] = options[name];
  if (options.http !== undefined) wire['http'] = options.http.map(wireRule);
  if (options.ca?.extra !== undefined) wire['authorities'] = options.ca.extra;
  const { servers, hosts } = options.dns ?? {};
  if (servers !== undefined) wire['dnsServers'] = servers;
  if (hosts !== undefined) wire['dnsHosts'] = wireHosts(hosts);
  const limits = present(options.limits);
  if (limits !== undefined) wire['limits'] = limits;
  return wire as OutsideOptions;
}

function wireRule({ handle, handleTimeoutMs = DEFAULT_HANDLE_MS, ...rule }: NetworkHttpRule): OutsideHttpRule {
  const handler = handle && { id: handlerNumber(handle), timeoutMs: handleTimeoutMs };
  return { ...rule, handler } as OutsideHttpRule;
}

function wireHosts(hosts: NonNullable<NetworkDns['hosts']>): OutsideHost[] {
  return Object.entries(hosts).map(([name, addresses]) => ({
    name,
    addresses: typeof addresses === 'string' ? [addresses] : [...addresses],
  }));
}

// Returns the fields that have values, or `undefined` if no field has one.
function present(limits: NetworkLimits | undefined): Record<string, number> | undefined {
  const given = Object.entries(limits ?? {}).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : (Object.fromEntries(given) as Record<string, number>);
}

/** Converts a checked change to a message. */
export function wireUpdate(runtime: RuntimeId, change: NetworkChange, { existing }: NetworkUpdateOptions): OutsideUpdate {
  const clear: string[] = FIELDS.filter((name) => change[name] === null);
  const { ca, dns, limits } = change;
  if (ca === null || ca?.extra === null) clear.push('authorities');
  if (dns === null || dns?.servers === null) clear.push('dnsServers');
  if (dns === null || dns?.hosts === null) clear.push('dnsHosts');
  if (limits === null) clear.push('limits');
  else for (const [name, value] of Object.entries(limits ?? {})) if (value === null) clear.push(`limits.${name}`);
  const replaced = Object.fromEntries(FIELDS.filter((name) => change[name] !== null).map((name) => [name, change[name]]));
  const kept: NetworkOptions = {
    ...replaced,
    ca: withoutNull<NetworkCa>(ca),
    dns: withoutNull<NetworkDns>(dns),
    limits: withoutNull<NetworkLimits>(limits),
  };
  return { runtime, change: wireOutside(kept), clear: clear.length === 0 ? undefined : clear, existing };
}

function withoutNull<T extends object>(fields: object | null | undefined): T {
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== null)) as T;
}

/** Returns the options after a change, as a frozen copy. */
export function afterChange(options: NetworkOptions, change: NetworkChange): NetworkOptions {
  const { ca, dns, limits, ...lists } = change;
  const next = { ...options, ...defined(lists) };
  return inForce({
    ...withoutNull<NetworkOptions>(next),
    ca: ca === null ? {} : withoutNull<NetworkCa>({ ...options.ca, ...defined(ca) }),
    dns: dns === null ? {} : withoutNull<NetworkDns>({ ...options.dns, ...defined(dns) }),
    limits: limits === null ? {} : withoutNull<NetworkLimits>({ ...options.limits, ...defined(limits) }),
  });
}

const defined = (fields: object | undefined): object =>
  Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== undefined));

/** Returns a frozen copy of checked options, without fields that have no value. */
export function inForce(options: NetworkOptions): NetworkOptions {
  const { ca, dns, limits, ...lists } = options;
  const parts = Object.entries({ ca: defined(ca), dns: defined(dns), limits: defined(limits) }).filter(
    ([, part]) => Object.keys(part).length > 0,
  );
  return frozenCopy({ ...defined(lists), ...Object.fromEntries(parts) });
}
