// The files that `pnpm test:quick` runs with real sidecars. The files test each part of the product
// in seconds.

export const SMOKE = [
  'packages/sdk/test/sandbox/archives.test.ts',
  'packages/sdk/test/sandbox/bindings.test.ts',
  'packages/sdk/test/sandbox/boot-timing.test.ts',
  'packages/sdk/test/sandbox/network-listeners.test.ts',
  'packages/sdk/test/sandbox/resident.test.ts',
  'packages/sdk/test/sandbox/shell.test.ts',
  'packages/sdk/test/sandbox/snapshots-copies.test.ts',
  'packages/sdk/test/sandbox/spawn.test.ts',
  'packages/sdk/test/sandbox/typescript.test.ts',
];

/** More files for a change of the guest: every recorded program, in one mode. */
export const GUEST_SMOKE = ['packages/runner/test/fixtures.test.mjs'];
