// The addresses that webhooks may have. A tenant must not reach the private network of the server.
// So every address of a host name is checked, and the request is sent to a checked address.

import { lookup } from 'node:dns/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction, SocketAddress } from 'node:net';

/** A request with an event. */
export interface EventRequest {
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

/** Sends events to allowed addresses. */
export interface Destinations {
  /** Sends a request and returns the status of the response. Redirects are not followed. */
  post(url: string, request: EventRequest): Promise<number>;
}

const PRIVATE = new BlockList();
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  PRIVATE.addSubnet(address, bits, 'ipv4');
  PRIVATE.addSubnet(`::ffff:${address}`, bits + 96, 'ipv6');
}
for (const [address, bits] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
  ['2002::', 16],
] as const) {
  PRIVATE.addSubnet(address, bits, 'ipv6');
}

/** Returns whether an address belongs to no public network. */
export function isPrivate(address: string): boolean {
  return PRIVATE.check(new SocketAddress({ address, family: isIP(address) === 4 ? 'ipv4' : 'ipv6' }));
}

/** Makes the sender of events. `allowPrivate` also allows addresses of private networks. */
export function destinations(allowPrivate: boolean): Destinations {
  const checkedLookup: LookupFunction = (host, options, done) => {
    lookup(host, { ...options, all: true }).then(
      (found) => {
        const [first] = found;
        if (first === undefined || (!allowPrivate && found.some(({ address }) => isPrivate(address)))) {
          done(new Error(`the host ${host} has a private address`), '', 4);
        } else if (options.all) done(null, found);
        else done(null, first.address, first.family);
      },
      (error: Error) => done(error, '', 4),
    );
  };
  return {
    post: (text, { headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const url = new URL(text);
        const host = url.hostname.replace(/^\[|\]$/g, '');
        // The lookup is not called for addresses.
        if (isIP(host) !== 0 && !allowPrivate && isPrivate(host)) throw new Error(`the address ${host} is private`);
        const send = url.protocol === 'https:' ? requestHttps : requestHttp;
        const sent = send(url, {
          method: 'POST',
          headers: { ...headers, 'content-length': Buffer.byteLength(body) },
          signal,
          lookup: checkedLookup,
        });
        sent.on('error', reject);
        sent.on('response', (response) => {
          response.destroy();
          resolve(response.statusCode ?? 0);
        });
        sent.end(body);
      }),
  };
}
