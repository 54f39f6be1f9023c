// Opens sidecars of each kind: a process of its own, or embedded in this process, with guests on
// worker threads or on the caller's thread.

import { Sidecar } from 'coldframe';

/**
 * Milliseconds of the inline budget: longer than any measured start, so that every start completes
 * on the caller's thread.
 */
const INLINE_BUDGET_MS = 5;

export type OpenSdkSidecar = () => Promise<Sidecar>;

export const spawnShared: OpenSdkSidecar = () => Sidecar.spawn();
export const openEmbedded: OpenSdkSidecar = () => Sidecar.embedded();
/** Opens an embedded sidecar in which a guest's turn begins on the caller's thread. */
export const openEmbeddedInline: OpenSdkSidecar = () => Sidecar.embedded({ inlineBudgetMs: INLINE_BUDGET_MS });
