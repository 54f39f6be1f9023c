// Options of private networks: `Network.create()`, its calls, and the memberships of a runtime.
// Next: `private-networks/network.ts`.

import { isNetwork, isSidecar } from './handles.js';
import { NETWORK_OPTIONS, type NetworkOptions } from './outside.js';
import { type Fault, isObject, matching, oneOf, type Rule, rule, whole } from './rule.js';
import { type OptionTable, objectWith, required } from './table.js';

/** Allows connections of some members to some members. */
export interface NetworkRule {
  /** The name or a tag of the connecting members. @default every member */
  from?: string | undefined;
  /** The name or a tag of the listening members. @default every member */
  to?: string | undefined;
  /** Ports, or ranges of ports such as `'8000-8010'`. @default every port */
  ports?: readonly (number | string)[] | undefined;
}

/** The types of events of `network.on()`. */
export const MEMBER_EVENTS = ['open', 'close', 'denied', 'lost'] as const;

/** A type of event of `network.on()`. */
export type MemberEventType = (typeof MEMBER_EVENTS)[number];

/** The argument `type` of `on()`. */
export const MEMBER_EVENT = oneOf(MEMBER_EVENTS, `one of ${MEMBER_EVENTS.join(', ')}`);

/** Options of `Network.create()`. */
export interface NetworkCreateOptions<Sidecar> {
  /** The sidecar of the members. */
  sidecar: Sidecar;
  /**
   * The name, which is a part of the full names of members: `db.shop.internal`. A label of DNS in
   * lower case.
   */
  name: string;
  /**
   * The connections that are allowed. An empty list allows none.
   * @default each member reaches each member
   */
  rules?: readonly NetworkRule[] | undefined;
}

/** The place of a runtime in a network. */
export interface MembershipOptions {
  /** The name, by which other members look up the runtime. A label of DNS in lower case. */
  as: string;
  /** Tags, by which rules select the runtime. @default [] */
  tags?: readonly string[] | undefined;
}

/** A membership of a new runtime. */
export interface Membership extends MembershipOptions {
  /** The `Network`, on the sidecar of the runtime. */
  network: { readonly name: string };
}

/** The option `network` of a new runtime. */
export interface RuntimeNetworkOptions extends NetworkOptions {
  /**
   * Private networks that the runtime joins before `create()` resolves. A pool, a clone and a
   * snapshot have no memberships: use `network.add()`.
   * @default []
   */
  join?: readonly Membership[] | undefined;
}

const NAME_EXPECTED = 'a name of 1 to 63 lower-case letters, digits and inner hyphens, except localhost';
const NAME = matching(/^(?!localhost$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, NAME_EXPECTED);
const PORT = whole(1, 65_535);
const PORTS_EXPECTED = "a list of at most 64 ports or ranges, such as 5432 or '8000-8010'";

const MAX_LIST = 64;
const MAX_RULES = 1_024;

// Returns the first and the last port, or `undefined` for a text that is no range.
function portsOf(value: unknown): [number, number] | undefined {
  const parts = typeof value === 'string' && /^\d{1,5}-\d{1,5}$/.test(value) ? value.split('-').map(Number) : [value, value];
  const [first, last] = parts as [number, number];
  return PORT.fault(first) === undefined && PORT.fault(last) === undefined && first <= last ? [first, last] : undefined;
}

/** Converts a checked port or range. */
export const portRange = (value: number | string): [number, number] => portsOf(value) as [number, number];

function list(item: Rule, max: number, expected: string): Rule {
  return {
    expected,
    fault(value): Fault | undefined {
      if (!Array.isArray(value) || value.length > max) return { path: [], expected, received: value };
      for (const [at, one] of value.entries()) {
        const fault = item.fault(one);
        if (fault !== undefined) return { ...fault, path: [at, ...fault.path] };
      }
      return undefined;
    },
  };
}

const RULE: OptionTable<NetworkRule> = {
  from: NAME,
  to: NAME,
  ports: list(
    rule((value) => portsOf(value) !== undefined, "a port, or a range such as '8000-8010'"),
    MAX_LIST,
    PORTS_EXPECTED,
  ),
};

/** The rules of a network. */
export const NETWORK_RULES = list(objectWith(RULE), MAX_RULES, `a list of at most ${MAX_RULES} rules { from?, to?, ports? }`);

/** The option table of `Network.create()`. */
export const NETWORK_CREATE: OptionTable<NetworkCreateOptions<unknown>> = {
  sidecar: required(rule(isSidecar, 'a Sidecar made by Sidecar.spawn() or Sidecar.embedded() of this copy of coldframe')),
  name: required(NAME),
  rules: NETWORK_RULES,
};

/** The option table of `network.add()`. */
export const MEMBERSHIP: OptionTable<MembershipOptions> = {
  as: required(NAME),
  tags: list(NAME, MAX_LIST, `a list of at most ${MAX_LIST} tags`),
};

/** Accepts a `Network`. */
export const NETWORK_HANDLE = rule(isNetwork, 'a Network made by Network.create() of this copy of coldframe');

const JOIN = list(
  objectWith({ ...MEMBERSHIP, network: required(NETWORK_HANDLE) } satisfies OptionTable<Membership>),
  16,
  'a list of at most 16 memberships { network, as, tags? }',
);

/** Accepts the option `network` of a new runtime. */
export const RUNTIME_NETWORK: Rule = {
  ...NETWORK_OPTIONS,
  fault(value): Fault | undefined {
    if (!isObject(value)) return NETWORK_OPTIONS.fault(value);
    const { join, ...outside } = value;
    const fault = join === undefined ? undefined : JOIN.fault(join);
    return fault === undefined ? NETWORK_OPTIONS.fault(outside) : { ...fault, path: ['join', ...fault.path] };
  },
};

/** Returns the options for connections out of the runtime, without the memberships. */
export function withoutMemberships<T extends { network?: RuntimeNetworkOptions | undefined }>(
  options: T,
): T & { network?: NetworkOptions | undefined } {
  if (options.network?.join === undefined) return options;
  const { join: _, ...network } = options.network;
  return { ...options, network };
}
