// Published figures of the memory of a live sandbox.

import type { PublishedSystem } from './system.js';

export interface PublishedMemory extends PublishedSystem {
  live: number | undefined;
  kib: number;
  /** The kind of the figure: how the system's authors measured or stated the figure. */
  is: string;
}

const MB = 1e6 / 1024;

export const publishedMemory: readonly PublishedMemory[] = [
  { system: 'CubeSandbox (PVM)', isolation: 'micro-VM', live: 20, kib: 29 * MB, is: 'free(1), measured' },
  { system: 'CubeSandbox (bare metal)', isolation: 'micro-VM', live: 100, kib: 21.5 * MB, is: 'free(1), measured' },
  { system: 'CubeSandbox (bare metal)', isolation: 'micro-VM', live: 1_000, kib: 25.7 * MB, is: 'free(1), measured' },
  { system: 'Coppice', isolation: 'micro-VM', live: 1_000, kib: 9 * 1024, is: '256 MiB guests, measured' },
  { system: 'forkd', isolation: 'micro-VM', live: 100, kib: 0.12 * 1024, is: 'unique pages right after the fork, measured' },
  { system: 'zeroboot', isolation: 'micro-VM', live: 1_000, kib: 265, is: 'README' },
  { system: 'mitos', isolation: 'micro-VM', live: undefined, kib: 3 * 1024, is: 'approximate' },
  { system: 'CLRK warm slot', isolation: 'container', live: undefined, kib: 50 * MB, is: 'approximate (gVisor)' },
  { system: 'secure-exec, older', isolation: 'isolate', live: undefined, kib: 3.4 * MB, is: 'documentation' },
  {
    system: 'DFINITY',
    isolation: 'wasm',
    live: 10_000,
    kib: 5 * 1024,
    is: 'upper bound, configured in production; one process each',
  },
  { system: 'siteboss', isolation: 'wasm', live: undefined, kib: 0.1 * MB, is: 'without a language runtime' },
];
