// The names of runtimes below the domain of a gateway: `<port>-<id>.<domain>`.

import type { GatewayTarget } from '../options/gateway.js';

// A label of DNS has at most 63 characters, six of which are for the port and the hyphen.
const LABEL = /^([1-9]\d{0,4})-([a-z0-9]{1,57})$/;
const OWN_PORT = /:\d{1,5}$/;

/**
 * Returns the port and the id that the header `host` names. The header has exactly the form
 * `<port>-<id>.<domain>`, with or without the port of the gateway. Otherwise returns `undefined`.
 */
export function targetOf(host: string, domain: string): GatewayTarget | undefined {
  const name = host.replace(OWN_PORT, '').toLowerCase();
  if (!name.endsWith(`.${domain}`)) return undefined;
  const [, digits, id] = LABEL.exec(name.slice(0, -domain.length - 1)) ?? [];
  const port = Number(digits);
  return id === undefined || port > 65_535 ? undefined : { port, id };
}
