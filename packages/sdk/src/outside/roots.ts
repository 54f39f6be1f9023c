// The default authorities of TLS on a host machine whose system has none. The edge process reads
// the system's authorities itself. If the system has none, the sidecar gets the authorities of this
// process, once. The list of files is the list in `crates/edge/src/surroundings.rs`.

import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { requireBuiltin } from '../packages/installed.js';

const SYSTEM_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
] as const;

/** The parts of `node:tls` that a host may lack. */
interface HostAuthorities {
  /** Since Node 22.15. */
  readonly getCACertificates?: (type: 'default') => readonly string[];
  readonly rootCertificates?: readonly string[];
}

/** The requests of the connections that have needed authorities. */
const sent = new WeakMap<SidecarConnection, Promise<void>>();

const hasSystemRoots = (): boolean => SYSTEM_FILES.some((path) => requireBuiltin('node:fs').existsSync(path));

/**
 * Returns the authorities of this process in PEM: the authorities of the JavaScript runtime, and
 * the authorities of `NODE_EXTRA_CA_CERTS`. The text is empty if the runtime has no list.
 */
function processRoots(): string {
  const { getCACertificates, rootCertificates } = requireBuiltin('node:tls') as HostAuthorities;
  if (getCACertificates !== undefined) return getCACertificates('default').join('\n');
  return [...(rootCertificates ?? []), extraCertificates()].join('\n').trim();
}

// Node before 22.15 has no list with the certificates of the variable.
function extraCertificates(): string {
  const path = process.env['NODE_EXTRA_CA_CERTS'];
  if (path === undefined || path === '') return '';
  try {
    return requireBuiltin('node:fs').readFileSync(path, 'utf8');
  } catch {
    // Node warns about an unreadable file, and continues.
    return '';
  }
}

/**
 * Sends the authorities of this process to a sidecar, once, if the system has none. Call before the
 * request that allows a runtime to use TLS. The sidecar handles both requests in their order.
 * @throws `ERR_INVALID_REQUEST` (more than 1,000,000 bytes of authorities); otherwise as each
 * request
 */
export function supplyRoots(connection: SidecarConnection): Promise<void> {
  const known = sent.get(connection);
  if (known !== undefined) return known;
  const pem = hasSystemRoots() ? '' : processRoots();
  const supplied = pem === '' ? Promise.resolve() : connection.request('outside.roots', { pem }).then(() => {});
  sent.set(connection, supplied);
  // The caller may fail before it waits. After a failure, the next use sends the authorities again.
  supplied.catch(() => sent.delete(connection));
  return supplied;
}
