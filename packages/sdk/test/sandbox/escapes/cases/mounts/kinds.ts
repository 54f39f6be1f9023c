// The three kinds of mount: what every case of a link or a race is tried in.

import type { NodeRuntimeOptions } from '../../../../../src/index.js';
import type { Place } from '../../harness/place.js';

export const KINDS = ['read-only', 'writable', 'overlay'] as const;
export type Kind = (typeof KINDS)[number];

/** `inside` at `/m`. */
export const mounted =
  (kind: Kind) =>
  ({ inside }: Place): NodeRuntimeOptions => ({
    mounts: [
      { guestPath: '/m', hostPath: inside, ...(kind === 'overlay' ? { overlay: true } : { readOnly: kind === 'read-only' }) },
    ],
  });

/** Remembers a digest of a folder before a case, and says afterwards whether it is another. */
export function unchanged(folder: 'inside' | 'outside' = 'outside') {
  const before = new Map<string, string>();
  return {
    remember: (place: Place): void => void before.set(place.root, place.digest(place[folder])),
    after: (place: Place): string | undefined =>
      before.get(place.root) === place.digest(place[folder]) ? undefined : `what lies ${folder} has changed`,
  };
}
