// The platforms that have packages. A platform package of `@coldframe/sidecar` has the program and
// the addon, which depend on the C library. A platform package of `@coldframe/runner` has the
// images and their precompiled modules, which depend on the processor only. The platform packages
// of `@coldframe/python` also depend on the processor only.
//
// The lists in `packages/sidecar/src/platform.ts`, `packages/runner/src/index.ts` and
// `packages/python/src/index.ts` are equal to these lists (scripts/test/packages.test.mjs).

/**
 * `tested`: whether `pnpm test` runs the packages on a machine of this platform. The release
 * workflow builds and tests the other platforms (.github/workflows/release.yml).
 */
export const SIDECAR_PLATFORMS = [
  { name: 'linux-x64-gnu', os: 'linux', cpu: 'x64', libc: 'glibc', tested: true },
  { name: 'linux-arm64-gnu', os: 'linux', cpu: 'arm64', libc: 'glibc', tested: false },
  { name: 'linux-x64-musl', os: 'linux', cpu: 'x64', libc: 'musl', tested: false },
  { name: 'linux-arm64-musl', os: 'linux', cpu: 'arm64', libc: 'musl', tested: false },
];

export const RUNNER_PLATFORMS = [
  { name: 'linux-x64', os: 'linux', cpu: 'x64', tested: true },
  { name: 'linux-arm64', os: 'linux', cpu: 'arm64', tested: false },
];

export const PYTHON_PLATFORMS = RUNNER_PLATFORMS;

/** Returns the platform of `machine` (`os`, `cpu`, `libc`) in a list, or `undefined`. */
export const platformOf = (platforms, { os, cpu, libc }) =>
  platforms.find((each) => each.os === os && each.cpu === cpu && (each.libc === undefined || each.libc === libc));
