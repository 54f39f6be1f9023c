// Options for connections out of a runtime: the option `network`, and the calls of
// `runtime.network`. The sidecar checks entries again, and checks what only the sidecar can check,
// such as whether an address is public. Next: `outside/policy.ts`, the policy as a message.

import { CALLBACK, type Fault, hidden, isPlain, mapOf, matching, oneOf, type Rule, rule, whole } from './rule.js';
import { known, type OptionTable, objectWith, required } from './table.js';

/**
 * A rule about the requests to a host over HTTP. A rule allows connections to its host. A host with
 * a rule is denied except for what a rule allows.
 */
export interface NetworkHttpRule {
  /** A name or `*.name`, with or without a port. @default port 443 */
  host: string;
  /** The methods, such as `GET`. @default every method except CONNECT and TRACE */
  methods?: readonly string[] | undefined;
  /** The patterns of paths, such as `/repos/acme/**`. @default every path */
  paths?: readonly string[] | undefined;
  /**
   * Headers that replace the program's headers in each request. `${NAME}` is the value of
   * the secret NAME.
   */
  inject?: Readonly<Record<string, string>> | undefined;
  /**
   * A function of the app that responds to the requests. No connection to the host is opened, and
   * the host is never looked up. All rules about a host have a function, or none has.
   * @default the requests are sent to the host
   */
  handle?: RequestHandler | undefined;
  /** Milliseconds until the head of the response of `handle`, 1 to 3,600,000. @default 30_000 */
  handleTimeoutMs?: number | undefined;
}

/**
 * Responds to a request of a program. The bodies of both are streams. `request.signal` aborts when
 * the program has aborted the request, or the runtime has ended.
 */
export type RequestHandler = (request: Request) => Response | Promise<Response>;

/** The authorities that TLS trusts. */
export interface NetworkCa {
  /** Certificates in PEM, trusted besides the authorities of the host machine. @default [] */
  extra?: readonly string[] | undefined;
}

/** Limits of connections out of a runtime. */
export interface NetworkLimits {
  /** Open connections at a time, 1 to 16,384. @default 256 */
  connections?: number | undefined;
  /** Connections that are being opened at a time, 1 to 4,096. @default 64 */
  connecting?: number | undefined;
  /**
   * New connections per second, 1 to 100,000. A burst may have four times as many.
   * @default 50
   */
  connectsPerSecond?: number | undefined;
  /** Bytes per second in each direction, from 1. @default 50_000_000 */
  bytesPerSecond?: number | undefined;
  /** Bytes in both directions in the life of the runtime, from 1. @default no limit */
  bytes?: number | undefined;
}

/** The name resolution of a runtime. */
export interface NetworkDns {
  /**
   * Addresses of DNS servers, with or without a port, such as `10.0.0.2` or `[fd00::1]:5353`.
   * @default the DNS servers of the host machine
   */
  servers?: readonly string[] | undefined;
  /**
   * Names with fixed addresses. Their lookup needs no DNS server and no
   * entry. A connection needs an entry, as for every other name.
   * @default {}
   */
  hosts?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

/**
 * The connections out of a runtime. An entry of a list is a host with or without a port:
 * `example.com`, `*.example.com:443`, `tcp://db.example.net:5432`, `203.0.113.7:8443`,
 * `203.0.113.0/24`, `[2606:4700::1111]:443`. An allowed entry without a port opens port 443. The
 * deepest entry decides, and at equal depth an entry that denies. See `docs/network.md`.
 */
export interface NetworkOptions {
  /**
   * The hosts that no entry names: `'deny'` denies them, `'public'` allows every public host.
   * @default 'deny'
   */
  outside?: 'deny' | 'public' | undefined;
  /** Hosts that are allowed. @default [] */
  allow?: readonly string[] | undefined;
  /** Hosts that are denied. @default [] */
  deny?: readonly string[] | undefined;
  /**
   * Addresses that are allowed although they are not public, such as `10.1.2.0/24:5432`.
   * @default []
   */
  private?: readonly string[] | undefined;
  /** Rules about requests over HTTP. @default [] */
  http?: readonly NetworkHttpRule[] | undefined;
  /** The authorities that TLS trusts. */
  ca?: NetworkCa | undefined;
  /** The name resolution. */
  dns?: NetworkDns | undefined;
  /**
   * The address of the host machine from which connections are opened, such as `198.51.100.9`. An
   * address reaches only peers of its family.
   * @default the choice of the operating system
   */
  localAddress?: string | undefined;
  /**
   * The URL of a proxy through which all TCP connections are opened, such as
   * `http://user:password@proxy.example:3128`. The proxy must accept the method `CONNECT`.
   * @default no proxy
   */
  proxy?: string | undefined;
  /** Limits of all connections of the runtime together. */
  limits?: NetworkLimits | undefined;
}

/** Makes `null` possible for each field. */
type Clearable<T> = { [Name in keyof T]?: T[Name] | null | undefined };

/**
 * A change of the connections out of a runtime. A field replaces the present value, `null` restores
 * the default, and an omitted field stays unchanged. The fields of `dns` and `limits` are changed
 * one by one.
 */
export interface NetworkChange extends Clearable<Omit<NetworkOptions, 'ca' | 'dns' | 'limits'>> {
  ca?: Clearable<NetworkCa> | null | undefined;
  dns?: Clearable<NetworkDns> | null | undefined;
  limits?: Clearable<NetworkLimits> | null | undefined;
}

/** Options of `runtime.network.update()`. */
export interface NetworkUpdateOptions {
  /**
   * Open connections: `'recheck'` closes the connections that the new policy denies, `'keep'` keeps
   * all.
   * @default 'recheck'
   */
  existing?: 'recheck' | 'keep' | undefined;
}

/** Options of `runtime.network.check()`. */
export interface NetworkCheckOptions {
  /** The method of the request. @default 'GET' */
  method?: string | undefined;
}

/** The types of events of `runtime.network.on()`. */
export const NETWORK_EVENTS = ['open', 'close', 'denied', 'dns', 'request', 'limit', 'lost'] as const;

/** A type of event of `runtime.network.on()`. */
export type NetworkEventType = (typeof NETWORK_EVENTS)[number];

/** The maximum number of entries of each list, as in the sidecar. */
const MAX_ENTRIES = 4_096;
const MAX_ENTRY = 1_024;
const MAX_HOSTS = 1_024;
const MAX_SERVERS = 8;
const TERABYTE = 1_099_511_627_776;
const MAX_COUNT = 1_024 * TERABYTE;

const ENTRY_EXPECTED = `a host with or without a port, such as example.com:443, of at most ${MAX_ENTRY} characters`;
const isEntry = (value: unknown): boolean => typeof value === 'string' && value !== '' && value.length <= MAX_ENTRY;

// Accepts a list of at most `max` items.
function bounded(item: Rule, max: number, expected: string): Rule {
  return {
    expected,
    fault(value): Fault | undefined {
      if (!Array.isArray(value)) return { path: [], expected, received: value };
      if (value.length > max) return { path: [], expected: `a list of at most ${max} entries`, received: value };
      for (const [at, one] of value.entries()) {
        const fault = item.fault(one);
        if (fault !== undefined) return { ...fault, path: [at, ...fault.path] };
      }
      return undefined;
    },
  };
}

const ENTRIES = bounded(rule(isEntry, ENTRY_EXPECTED), MAX_ENTRIES, 'a list of hosts, such as example.com:443');

const ADDRESS = rule((value) => typeof value === 'string' && isAddress(value), 'an IPv4 or IPv6 address');
const SERVER_EXPECTED = 'an address with or without a port, such as 10.0.0.2, 10.0.0.2:5353 or [fd00::1]:5353';
const SERVER = rule((value) => typeof value === 'string' && isServer(value), SERVER_EXPECTED);
const HOSTS_EXPECTED = `a map of at most ${MAX_HOSTS} names to an address, or to a list of addresses`;

const IPV4 = /^(?:\d{1,3}\.){3}\d{1,3}$/;
const IPV6 = /^[0-9a-f:.]*:[0-9a-f:.]*$/i;

// The sidecar parses the address. This test finds the mistakes that a person makes: a name, a port.
const isAddress = (text: string): boolean => IPV4.test(text) || IPV6.test(text);

function isServer(text: string): boolean {
  const [, bracketed, host, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false;
  if (bracketed !== undefined) return IPV6.test(bracketed);
  return host === undefined ? IPV6.test(text) : IPV4.test(host);
}

const PROXY_EXPECTED = 'the URL of a proxy with its port, such as http://proxy.example:3128';
const MAX_PROXY = 1_024;

// The sidecar parses the URL. An error does not show a URL, which may have a password.
const PROXY: Rule = {
  expected: PROXY_EXPECTED,
  fault(value): Fault | undefined {
    if (typeof value !== 'string') return { path: [], expected: PROXY_EXPECTED, received: value };
    if (value.length <= MAX_PROXY && /^http:\/\/.+:\d{1,5}\/?$/.test(value)) return undefined;
    return { path: [], expected: PROXY_EXPECTED, received: 'another text' };
  },
};

const ADDRESSES = bounded(ADDRESS, 16, 'an address, or a list of at most 16 addresses');
const HOSTS: Rule = {
  expected: HOSTS_EXPECTED,
  fault(value): Fault | undefined {
    if (!isPlain(value)) return { path: [], expected: HOSTS_EXPECTED, received: value };
    const entries = Object.entries(value);
    if (entries.length > MAX_HOSTS) return { path: [], expected: HOSTS_EXPECTED, received: value };
    for (const [name, addresses] of entries) {
      if (name === '' || name.length > 253) return { path: [name], expected: 'a host name', received: name };
      const fault = ADDRESSES.fault(Array.isArray(addresses) ? addresses : [addresses]);
      if (fault === undefined) continue;
      return { ...fault, path: Array.isArray(addresses) ? [name, ...fault.path] : [name] };
    }
    return undefined;
  },
};

const METHOD = rule((value) => typeof value === 'string' && isMethod(value), 'a method in capitals, such as GET');
const isMethod = (text: string): boolean => /^[A-Z][A-Z-]{0,31}$/.test(text) && text !== 'CONNECT' && text !== 'TRACE';
const PATH = matching(/^\/[^?#\0]{0,1023}$/, 'a pattern of paths, such as /repos/acme/**');
const MAX_HTTP_LIST = 64;
const INJECT_EXPECTED = `a map of at most ${MAX_HTTP_LIST} header names to texts, such as 'Bearer \${NAME}'`;
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
const TEMPLATE = hidden(
  (value) => typeof value === 'string' && value !== '' && value.length <= 8_192 && !/\p{Cc}/u.test(value),
  'text of one line, of at most 8192 characters',
);

const HTTP_RULE: OptionTable<NetworkHttpRule> = {
  host: required(rule(isEntry, 'a host name with or without a port, such as api.example.com')),
  methods: bounded(METHOD, MAX_HTTP_LIST, 'a list of methods, such as GET'),
  paths: known(bounded(PATH, MAX_HTTP_LIST, 'a list of patterns of paths'), ['path']),
  inject: known(mapOf(HEADER, TEMPLATE, INJECT_EXPECTED), ['headers', 'transform']),
  handle: known(CALLBACK, ['handler']),
  handleTimeoutMs: whole(1, 3_600_000, 'milliseconds'),
};

function handlerAlone({ inject, handle, handleTimeoutMs }: Readonly<Record<string, unknown>>): Fault | undefined {
  if (handle === undefined && handleTimeoutMs !== undefined) {
    return { path: ['handleTimeoutMs'], expected: 'nothing without `handle`', received: handleTimeoutMs };
  }
  if (handle === undefined || inject === undefined) return undefined;
  const expected = 'nothing beside `handle`, because the app receives no values of secrets';
  return { path: ['inject'], expected, received: inject };
}

const RULE_EXPECTED = 'a rule: { host, methods?, paths?, inject?, handle?, handleTimeoutMs? }';
const HTTP = bounded(objectWith(HTTP_RULE, RULE_EXPECTED, handlerAlone), MAX_ENTRIES, `a list of rules, each ${RULE_EXPECTED}`);

const MAX_AUTHORITIES = 64;
const PEM = rule((value) => typeof value === 'string' && value.includes('-----BEGIN CERTIFICATE-----'), 'certificates in PEM');
const CA: OptionTable<NetworkCa> = {
  extra: bounded(PEM, MAX_AUTHORITIES, `a list of at most ${MAX_AUTHORITIES} texts with certificates`),
};

const DNS: OptionTable<NetworkDns> = {
  servers: known(bounded(SERVER, MAX_SERVERS, `a list of at most ${MAX_SERVERS} addresses`), ['nameservers', 'resolvers']),
  hosts: HOSTS,
};

const LIMITS: OptionTable<NetworkLimits> = {
  connections: known(whole(1, 16_384, 'connections'), ['maxConnections']),
  connecting: whole(1, 4_096, 'connections'),
  connectsPerSecond: whole(1, 100_000, 'connections'),
  bytesPerSecond: known(whole(1, TERABYTE, 'bytes'), ['bandwidth']),
  bytes: whole(1, MAX_COUNT, 'bytes'),
};

const EXPECTED = 'an object: { outside?, allow?, deny?, private?, http?, ca?, dns?, localAddress?, proxy?, limits? }';
const MODE = oneOf(['deny', 'public'], "'deny' or 'public'");

const NETWORK: OptionTable<NetworkOptions> = {
  outside: MODE,
  allow: known(ENTRIES, ['allowlist', 'allowOut', 'allowedHosts', 'allowNet', 'hosts']),
  deny: known(ENTRIES, ['denylist', 'denyOut', 'deniedHosts', 'denyNet']),
  private: ENTRIES,
  http: HTTP,
  ca: objectWith(CA),
  dns: objectWith(DNS),
  localAddress: ADDRESS,
  proxy: PROXY,
  limits: objectWith(LIMITS),
};

/**
 * Accepts the option `network`. The names in a policy are no options of other calls, so hints are
 * searched only in the policy.
 */
export const NETWORK_OPTIONS: Rule = { ...objectWith(NETWORK, EXPECTED), inner: undefined };

const clearable = (one: Rule): Rule => ({
  ...one,
  expected: `${one.expected}, or null`,
  fault: (value) => (value === null ? undefined : one.fault(value)),
});

function allClearable<T extends Readonly<Record<string, Rule>>>(table: T): T {
  return Object.fromEntries(Object.entries(table).map(([name, one]) => [name, clearable(one)])) as T;
}

const CHANGE: OptionTable<NetworkChange> = {
  ...allClearable(NETWORK),
  ca: clearable(objectWith(allClearable(CA))),
  dns: clearable(objectWith(allClearable(DNS))),
  limits: clearable(objectWith(allClearable(LIMITS))),
};

/** The argument `change` of `update()`. */
export const NETWORK_CHANGE: Rule = { ...objectWith(CHANGE, EXPECTED), inner: undefined };

/** The option table of `update()`. */
export const NETWORK_UPDATE: OptionTable<NetworkUpdateOptions> = {
  existing: oneOf(['recheck', 'keep'], "'recheck' or 'keep'"),
};

/** The option table of `check()`. */
export const NETWORK_CHECK: OptionTable<NetworkCheckOptions> = {
  method: rule((value) => typeof value === 'string' && /^[A-Za-z][A-Za-z-]{0,31}$/.test(value), 'a method of HTTP such as GET'),
};

/** The argument `url` of `check()`. */
export const CHECKED_URL = rule(
  (value) => value instanceof URL || (typeof value === 'string' && value !== '' && value.length <= 8_192),
  'a URL of at most 8192 characters',
);

/** The argument `type` of `on()`. */
export const NETWORK_EVENT = oneOf(NETWORK_EVENTS, `one of ${NETWORK_EVENTS.join(', ')}`);
