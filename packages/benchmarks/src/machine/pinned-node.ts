// The pinned Node that the floors start: the same release whose library the guest carries, whatever Node runs the benchmark.

import { createRequire } from 'node:module';
import { arch } from 'node:os';

/** Path of the pinned binary; throws when there is none for this processor or the package is not installed. */
export function pinnedNode(): string {
  return createRequire(import.meta.url).resolve(`node-linux-${arch()}/bin/node`);
}
