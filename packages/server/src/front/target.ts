// The plane of a request: the control plane, or a port of a sandbox.
//
// The host name `<port>-<id>.<domain>` names a port of a sandbox. At any other host, two headers
// name the port. A signed URL of a file has neither. The signature then shows the sandbox.

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** The port of the agent of every sandbox. */
export const AGENT_PORT = 49_983;

/** A port of a sandbox. */
export interface Target {
  id: string;
  port: number;
}

const LABEL = /^(\d{1,5})-([a-z0-9]+)$/;
const HEADER_ID = 'e2b-sandbox-id';
const HEADER_PORT = 'e2b-sandbox-port';
const PORTS = 65_536;

/** Returns the port that a request names, `undefined` for the control plane, or `'malformed'`. */
export function targetOf({ headers }: IncomingMessage): Target | 'malformed' | undefined {
  const host = (headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
  const [label = '', ...rest] = host.split('.');
  const isOwnName = host === 'localhost' || isIP(host.replace(/^\[|\]$/g, '')) !== 0 || label === 'sandbox';
  const [, port, id] = isOwnName ? [] : (LABEL.exec(label) ?? []);
  if (port !== undefined && id !== undefined && rest.length > 0) return checked(id, port);
  const { [HEADER_ID]: givenId, [HEADER_PORT]: givenPort } = headers;
  if (givenId === undefined && givenPort === undefined) return undefined;
  if (typeof givenId !== 'string' || typeof givenPort !== 'string') return 'malformed';
  return checked(givenId, givenPort);
}

function checked(id: string, port: string): Target | 'malformed' {
  const number = Number(port);
  const isSound = /^[a-z0-9]+$/.test(id) && Number.isInteger(number) && number > 0 && number < PORTS;
  return isSound ? { id, port: number } : 'malformed';
}
