// The hosts of `pnpm test:hosts`: the programs that run an app with the SDK, as npm packages with
// exact versions. Each package contains one program and runs no script at installation.

const ARCH = process.arch;

/** Features that a host does not support, for the reason in docs/hosts.md. */
const NO_DISPATCHER = ['global fetch with a dispatcher'];

const node = (version) => ({
  name: `Node ${version}`,
  package: `node-linux-${ARCH}`,
  version,
  program: 'bin/node',
  args: [],
  unsupported: [],
  // vitest needs `styleText` of `node:util`.
  runsVitest: version !== '20.11.0',
});

/**
 * The first and the newest Node of the lowest supported line, and the newest of each later line.
 */
const NODES = ['20.11.0', '20.20.2', '22.23.3', '24.21.0', '26.10.0'];

export const hosts = [
  ...NODES.map(node),
  {
    name: 'Bun 1.4.5',
    package: `@oven/bun-linux-${ARCH === 'arm64' ? 'aarch64' : ARCH}`,
    version: '1.4.5',
    program: 'bin/bun',
    args: [],
    unsupported: NO_DISPATCHER,
    runsVitest: false,
  },
  {
    name: 'Deno 2.9.6',
    package: `@deno/linux-${ARCH}-glibc`,
    version: '2.9.6',
    program: 'deno',
    args: ['run', '--allow-all'],
    unsupported: NO_DISPATCHER,
    runsVitest: false,
  },
];
