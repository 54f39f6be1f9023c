// Locates the native halves: the sidecar's program, and the addon with an equal core. The SDK
// starts or loads them (`packages/sdk/src/transports`).

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Returns the path of the sidecar's program: `COLDFRAME_SIDECAR`, or the program in this package.
 * Throws if the file does not exist.
 */
export const sidecarPath = (): string => located('coldframe-sidecar', 'COLDFRAME_SIDECAR');

/**
 * Returns the path of the Node-API addon: `COLDFRAME_ADDON`, or the addon in this package. Throws
 * if the file does not exist.
 */
export const addonPath = (): string => located('coldframe.node', 'COLDFRAME_ADDON');

function located(name: string, variable: string): string {
  const given = process.env[variable];
  const path = given || fileURLToPath(new URL(name, import.meta.url));
  if (existsSync(path)) return path;
  if (given)
    throw new Error(`${variable}: expected the path of ${name}, received ${JSON.stringify(given)}, where there is no file`);
  const machine = `${process.platform} on ${process.arch}`;
  throw new Error(
    `${path} is missing (${machine}): install a release for this machine, or build it with \`npx --yes pnpm@10 build\``,
  );
}
