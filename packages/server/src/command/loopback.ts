// The addresses that only this machine can reach.

import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Returns whether a server at `host` is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const version = isIP(host);
  return version !== 0 && LOOPBACK.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
