// Defines the three kinds of mount. Cases with links and races run in each kind.

import type { NodeRuntimeOptions } from '../../../../../src/index.js';
import type { CaseFolders } from '../../harness/folders.js';

export const KINDS = ['read-only', 'writable', 'overlay'] as const;
export type Kind = (typeof KINDS)[number];

/** Returns options that mount `inside` at `/m`. */
export const mounted =
  (kind: Kind) =>
  ({ inside }: CaseFolders): NodeRuntimeOptions => ({
    mounts: [
      { guestPath: '/m', hostPath: inside, ...(kind === 'overlay' ? { overlay: true } : { readOnly: kind === 'read-only' }) },
    ],
  });

/**
 * Returns a function that records the digest of a folder, and a function that reports a changed
 * digest.
 */
export function unchanged(folder: 'inside' | 'outside' = 'outside') {
  const before = new Map<string, string>();
  return {
    remember: (folders: CaseFolders): void => void before.set(folders.root, folders.digest(folders[folder])),
    after: (folders: CaseFolders): string | undefined =>
      before.get(folders.root) === folders.digest(folders[folder]) ? undefined : `the folder ${folder} has changed`,
  };
}
