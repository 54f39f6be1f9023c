// Says where the native halves are: the sidecar's program and the addon with the same core. Nothing is started or loaded here; the SDK
// does that (`packages/sdk/src/transports`).

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Path of the sidecar's program. Throws when this package does not hold it. */
export const sidecarPath = (): string => located('coldframe-sidecar');

/** Path of the Node-API addon. Throws when this package does not hold it. */
export const addonPath = (): string => located('coldframe.node');

function located(name: string): string {
  const path = fileURLToPath(new URL(name, import.meta.url));
  if (existsSync(path)) return path;
  const machine = `${process.platform} on ${process.arch}`;
  throw new Error(
    `${path} is missing (${machine}): install a release for this machine, or build it with \`node scripts/build.mjs\``,
  );
}
