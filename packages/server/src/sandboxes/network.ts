// The clients' terms for connections out of a sandbox, as options of the SDK.
//
// For a client, an allowed entry always wins over a denied entry. In the SDK the deepest entry
// wins. So a denied range within an allowed range is left out. Headers that a rule sets may contain
// secrets of the tenant, whose values only the edge process receives.

import { BlockList, isIP, SocketAddress } from 'node:net';
import type { NetworkOptions } from 'coldframe';
import { SandboxFailure } from './failure.js';

/** A rule about the requests to a host: headers that are set. */
export interface NetworkRule {
  transform?: { headers?: Record<string, string> | undefined } | undefined;
}

/** The client's wish for connections out of a sandbox, and for requests to its servers. */
export interface NetworkConfig {
  /** Whether the client has allowed or denied the internet. */
  allowInternet?: boolean | undefined;
  allowOut?: readonly string[] | undefined;
  denyOut?: readonly string[] | undefined;
  rules?: Readonly<Record<string, readonly NetworkRule[]>> | undefined;
  /** Ports besides 443 whose connections with TLS have rules. */
  httpsPorts?: readonly number[] | undefined;
  dnsServers?: readonly string[] | undefined;
  /** Whether requests to servers in the sandbox need no token. */
  allowPublicTraffic?: boolean | undefined;
  /** The header `host` that servers in the sandbox receive. `${PORT}` is the port. */
  maskRequestHost?: string | undefined;
}

/** The SDK's options for a wish. */
export interface NetworkPolicy {
  network: NetworkOptions;
  /** The hosts of each secret that a rule names. */
  secretHosts: ReadonlyMap<string, readonly string[]>;
}

const EVERYTHING = new Set(['0.0.0.0/0', '::/0']);
const PLACEHOLDER = /\$\{([^{}]*)\}/g;
const SECRET = /^e2b\.secrets\.([A-Za-z0-9_-]{1,128})$/;
/** The ports of HTTP, on which a name of a host is known. */
const PLAIN_PORT = 80;
const TLS_PORT = 443;

/** Returns the SDK's options for a wish. `internet` is the choice for clients without a choice. */
export function policyOf(config: NetworkConfig, internet: boolean): NetworkPolicy {
  const { allowOut = [], denyOut = [], rules = {}, httpsPorts = [], dnsServers } = config;
  const deniesAll = config.allowInternet === false || denyOut.some((entry) => EVERYTHING.has(entry));
  const isOpen = allowOut.some((entry) => EVERYTHING.has(entry)) || (!deniesAll && (config.allowInternet ?? internet));
  const allowed = allowOut.filter((entry) => !EVERYTHING.has(entry));
  const names = allowed.filter((entry) => !isAddress(entry));
  if (names.length > 0 && isOpen) throw invalid(`the host ${names[0]} in allowOut needs 0.0.0.0/0 in denyOut`);
  const { secretHosts, http } = rulesOf(rules, httpsPorts, (host) => isOpen || names.some((name) => covers(name, host)));
  const wins = listOf(allowed.filter(isAddress));
  const network: NetworkOptions = {
    outside: isOpen ? 'public' : 'deny',
    allow: isOpen ? [] : [...allowed.filter(isAddress).map(withPorts), ...names.flatMap(withWebPorts)],
    deny: denyOut.filter((entry) => !EVERYTHING.has(entry) && !wins(entry)),
    http,
    ...(dnsServers === undefined ? {} : { dns: { servers: dnsServers } }),
  };
  return { network, secretHosts };
}

function rulesOf(
  rules: Readonly<Record<string, readonly NetworkRule[]>>,
  httpsPorts: readonly number[],
  isAllowed: (host: string) => boolean,
) {
  const secretHosts = new Map<string, string[]>();
  const http: NonNullable<NetworkOptions['http']>[number][] = [];
  for (const [host, entries] of Object.entries(rules)) {
    const headers = Object.assign({}, ...entries.map(({ transform }) => transform?.headers ?? {})) as Record<string, string>;
    // A rule allows no connection. Without headers it has no effect.
    if (!isAllowed(host) || Object.keys(headers).length === 0) continue;
    const encrypted = [TLS_PORT, ...httpsPorts].map((port) => `${host}:${port}`);
    let hasSecret = false;
    const inject: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) {
      inject[name] = value.replace(PLACEHOLDER, (text, inner: string) => {
        const secret = secretOf(text, inner);
        secretHosts.set(secret, [...new Set([...(secretHosts.get(secret) ?? []), ...encrypted])]);
        hasSecret = true;
        return `\${${secretName(secret)}}`;
      });
    }
    // Secrets are sent over TLS only.
    for (const at of hasSecret ? encrypted : [...encrypted, `${host}:${PLAIN_PORT}`]) http.push({ host: at, inject });
  }
  return { secretHosts, http };
}

function secretOf(text: string, inner: string): string {
  const name = SECRET.exec(inner)?.[1]?.toLowerCase();
  if (name === undefined) throw invalid(`the placeholder ${text} names no secret: \${e2b.secrets.NAME}`);
  return name;
}

/** Returns the name of a tenant's secret among the SDK's secrets, which have no hyphens. */
export const secretName = (name: string): string => `E2B_${name.replace(/_/g, '__').replace(/-/g, '_h')}`;

/** Returns the header `host` of requests to servers, for the SDK's gateway. */
export const maskedHost = ({ maskRequestHost }: NetworkConfig): string | undefined =>
  maskRequestHost?.replaceAll('${PORT}', 'PORT');

/** Fails unless the wish can be met. */
export function checkNetwork(config: NetworkConfig): void {
  for (const entry of config.denyOut ?? []) {
    if (!isAddress(entry)) throw invalid(`${entry} in denyOut is no address and no range of addresses`);
  }
  policyOf(config, true);
}

const invalid = (message: string): SandboxFailure => new SandboxFailure('invalid', `network: ${message}`);

function isAddress(entry: string): boolean {
  const [address = '', length] = entry.split('/');
  return isIP(address) !== 0 && (length === undefined || /^\d{1,3}$/.test(length));
}

const bracketed = (entry: string): string => (entry.includes(':') ? `[${entry}]` : entry);
const withPorts = (entry: string): string => `${bracketed(entry)}:*`;
const withWebPorts = (name: string): string[] => [PLAIN_PORT, TLS_PORT].map((port) => `${name}:${port}`);

const covers = (name: string, host: string): boolean => (name.startsWith('*.') ? host.endsWith(name.slice(1)) : name === host);

// Returns a function that says whether an entry is within one of `ranges`.
function listOf(ranges: readonly string[]): (entry: string) => boolean {
  const parsed = ranges.map((range) => {
    const [address = '', length] = range.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    const bits = length === undefined ? (family === 'ipv4' ? 32 : 128) : Number(length);
    const list = new BlockList();
    list.addSubnet(address, bits, family);
    return { list, bits, family } as const;
  });
  return (entry) => {
    const [address = '', length] = entry.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    const bits = length === undefined ? (family === 'ipv4' ? 32 : 128) : Number(length);
    return parsed.some(
      (one) => one.family === family && one.bits <= bits && one.list.check(new SocketAddress({ address, family })),
    );
  };
}
