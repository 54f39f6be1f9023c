// The peers, with their packages at exact versions and the isolation of each peer.
//
// A new peer needs an entry in `peers` and an adapter in `adapters/`.

import { arch } from 'node:os';

/** A package of npm at an exact version. */
export interface PeerPackage {
  name: string;
  version: string;
  /** The program in the installed package, for a peer that is a program. */
  program?: string;
}

export interface Peer {
  name: string;
  adapter: string;
  isolation: string;
  /** Whether a second evaluation finds the globals of the first evaluation. */
  keepsState: boolean;
  package?: PeerPackage;
  /** Options of Node for the process that contains the adapter. */
  nodeOptions?: readonly string[];
  /** Set for a mode of Coldframe. */
  isOurs?: true;
}

const X64 = arch() === 'x64';

const own = (mode: string, isolation: string, keepsState = false): Peer => ({
  name: `coldframe ${mode}`,
  adapter: `coldframe-${mode}`,
  isolation,
  keepsState,
  isOurs: true,
});

export const peers: readonly Peer[] = [
  own('owned', 'WebAssembly, and a process for each runtime'),
  own('shared', 'WebAssembly, in another process'),
  own('resident', 'WebAssembly, in another process', true),
  own('embedded', "WebAssembly, in the app's process"),
  { name: 'node process', adapter: 'node', isolation: 'none: a process with all rights of the app', keepsState: true },
  {
    name: 'bun process',
    adapter: 'bun',
    isolation: 'none: a process with all rights of the app',
    keepsState: true,
    package: { name: `@oven/bun-linux-${X64 ? 'x64' : 'aarch64'}`, version: '1.4.5', program: 'bin/bun' },
  },
  {
    name: 'deno process',
    adapter: 'deno',
    isolation: 'a process whose runtime checks permissions',
    keepsState: true,
    package: { name: `@deno/linux-${arch()}-glibc`, version: '2.9.6', program: 'deno' },
  },
  { name: 'worker thread', adapter: 'worker-thread', isolation: 'none: a thread with all rights of the app', keepsState: true },
  { name: 'node:vm', adapter: 'vm', isolation: "none: a context in the app's V8 isolate", keepsState: true },
  {
    name: 'isolated-vm',
    adapter: 'isolated-vm',
    isolation: "a V8 isolate in the app's process",
    keepsState: true,
    package: { name: 'isolated-vm', version: '7.0.1' },
    nodeOptions: ['--no-node-snapshot'],
  },
  {
    name: 'quickjs-emscripten, context',
    adapter: 'quickjs-emscripten-context',
    isolation: "WebAssembly in the app's process, one memory for all contexts",
    keepsState: true,
    package: { name: 'quickjs-emscripten', version: '0.32.0' },
  },
  {
    name: 'quickjs-emscripten, module',
    adapter: 'quickjs-emscripten-module',
    isolation: "WebAssembly in the app's process, a memory for each module",
    keepsState: true,
    package: { name: 'quickjs-emscripten', version: '0.32.0' },
  },
  {
    name: 'quickjs-wasi',
    adapter: 'quickjs-wasi',
    isolation: "WebAssembly in the app's process, a memory for each instance",
    keepsState: true,
    package: { name: 'quickjs-wasi', version: '3.6.2' },
  },
  {
    name: 'workerd process',
    adapter: 'workerd',
    isolation: 'a V8 isolate in a process with the rights of the app',
    keepsState: true,
    package: { name: `@cloudflare/workerd-linux-${X64 ? '64' : 'arm64'}`, version: '1.20261117.1', program: 'bin/workerd' },
  },
];

export const PEER_NAMES: readonly string[] = peers.map(({ name }) => name);
