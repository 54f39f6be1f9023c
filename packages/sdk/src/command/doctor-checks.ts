// The checks of `coldframe doctor`. A check returns what it found, and for a problem the remedy.

import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { freemem, release, totalmem } from 'node:os';
import { isColdframeError } from '../errors/error.js';
import { DOCTOR, remedyFor } from '../errors/remedies.js';
import { loadSdk } from './program.js';

/** The result of a check. */
export interface Finding {
  state: 'ok' | 'warning' | 'failed';
  found: string;
  remedy?: string;
}

/** The oldest Node that the package supports. */
const NODE = [20, 11] as const;
/**
 * The features of x86-64-v2 by their names in /proc/cpuinfo. The guest's machine code needs them.
 */
const X64_FEATURES = ['ssse3', 'sse4_1', 'sse4_2', 'popcnt', 'cx16'];
/** Linux has `PAGEMAP_SCAN` since this version. Snapshots are slower on older kernels. */
const FAST_SNAPSHOTS = [6, 7] as const;
/** A runtime needs about five memory mappings for each program. */
const LOW_MAPPINGS = 65_530;
const LOW_DESCRIPTORS = 1_024;
const LOW_MEMORY = 512 * 1_048_576;
const MIB = 1_048_576;

const ok = (found: string): Finding => ({ state: 'ok', found });
const warning = (found: string, remedy: string): Finding => ({ state: 'warning', found, remedy });
const failed = (found: string, remedy: string): Finding => ({ state: 'failed', found, remedy });

const isBelow = (version: string, [major, minor]: readonly [number, number]): boolean => {
  const [first = 0, second = 0] = version
    .replace(/^v/, '')
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  return first < major || (first === major && second < minor);
};

const textOf = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined);

async function system(): Promise<Finding> {
  const { platform, arch } = process;
  const found = `${platform} ${arch}, kernel ${release()}`;
  if (platform !== 'linux') return failed(found, 'Use Linux, for example in a virtual machine or a Linux container.');
  if (arch !== 'x64' && arch !== 'arm64')
    return failed(found, 'Use a machine with an x64 or arm64 processor, and a 64-bit Node.');
  if (!isBelow(release(), FAST_SNAPSHOTS)) return ok(found);
  return warning(
    found,
    `Linux ${FAST_SNAPSHOTS.join('.')} or newer takes snapshots faster. Nothing else depends on the version.`,
  );
}

async function node(): Promise<Finding> {
  if (!isBelow(process.version, NODE)) return ok(process.version);
  return failed(process.version, `Install Node ${NODE.join('.')} or newer.`);
}

async function processor(): Promise<Finding> {
  if (process.arch !== 'x64') return ok(process.arch);
  const info = await textOf('/proc/cpuinfo');
  const present = new Set(
    /^flags\s*:(.*)$/m
      .exec(info ?? '')?.[1]
      ?.trim()
      .split(' '),
  );
  if (present.size === 0) return warning('the features of the processor are unknown', 'Mount /proc in this container.');
  const missing = X64_FEATURES.filter((feature) => !present.has(feature));
  if (missing.length === 0) return ok('the processor has the features of x86-64-v2');
  return failed(`the processor has no ${missing.join(', ')}`, 'Use a processor of x86-64-v2. In QEMU, pass `-cpu host`.');
}

async function memory(): Promise<Finding> {
  const group = await textOf('/sys/fs/cgroup/memory.max');
  const bound = group === undefined || group.startsWith('max') ? totalmem() : Math.min(totalmem(), Number(group));
  const available = /^MemAvailable:\s*(\d+) kB$/m.exec((await textOf('/proc/meminfo')) ?? '')?.[1];
  const free = Math.min(bound, available === undefined ? freemem() : Number(available) * 1_024);
  const found = `${Math.round(free / MIB)} of ${Math.round(bound / MIB)} MiB available`;
  return free >= LOW_MEMORY
    ? ok(found)
    : warning(found, 'Free memory, raise the limit of the container, or pass a smaller memoryBytes.');
}

async function overcommit(): Promise<Finding> {
  const mode = (await textOf('/proc/sys/vm/overcommit_memory'))?.trim();
  if (mode !== '2') return ok(`vm.overcommit_memory is ${mode ?? 'unknown'}`);
  return warning('vm.overcommit_memory is 2', 'If runtimes fail with ERR_RESOURCE_EXHAUSTED: `sysctl vm.overcommit_memory=0`.');
}

async function mappings(): Promise<Finding> {
  const max = Number((await textOf('/proc/sys/vm/max_map_count')) ?? LOW_MAPPINGS);
  const found = `vm.max_map_count is ${max}`;
  return max >= LOW_MAPPINGS
    ? ok(found)
    : warning(found, `For many programs at a time: \`sysctl vm.max_map_count=${LOW_MAPPINGS}\`.`);
}

async function limits(): Promise<Finding> {
  const text = (await textOf('/proc/self/limits')) ?? '';
  const soft = (name: string): string | undefined => new RegExp(`^${name}\\s+(\\S+)`, 'm').exec(text)?.[1];
  const [files, space] = [soft('Max open files') ?? 'unknown', soft('Max address space') ?? 'unknown'];
  const found = `${files} open files, address space ${space}`;
  if (/^\d+$/.test(space)) return failed(found, 'Remove the limit of the address space: `ulimit -v unlimited`.');
  if (Number(files) < LOW_DESCRIPTORS) return warning(found, `Raise the limit of open files: \`ulimit -n ${LOW_DESCRIPTORS}\`.`);
  return ok(found);
}

const REINSTALL = 'Install the packages again: `npm install coldframe`, without `--omit=optional`.';

async function installedFiles(): Promise<Finding> {
  const { installation } = await import('../sidecar/locate.js');
  let sidecar: string;
  try {
    const installed = await installation();
    sidecar = installed.locateSidecar();
    installed.locateAddon();
    installed.locateImage();
  } catch (error) {
    return failed((error as Error).message, REINSTALL);
  }
  const isExecutable = await access(sidecar, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isExecutable) return failed(`${sidecar} is not executable`, `Make the file executable: \`chmod +x '${sidecar}'\`.`);
  return ok(sidecar);
}

/** Makes the finding for a sandbox that was started, or for the error of the start. */
async function started(start: () => Promise<number>): Promise<Finding> {
  const begin = performance.now();
  try {
    const exitCode = await start();
    const ms = (performance.now() - begin).toFixed(1);
    if (exitCode === 0) return ok(`a first program ran in ${ms} ms`);
    return failed(`the first program ended with exit code ${exitCode}`, REINSTALL);
  } catch (error) {
    if (!isColdframeError(error)) throw error;
    return failed(`${error.code}: ${error.message}`, remedyFor(error.code).replace(` ${DOCTOR}`, ''));
  }
}

const PROGRAM = 'if (1 + 1 !== 2) process.exit(1)';

const owned = (): Promise<Finding> =>
  started(async () => {
    const { NodeRuntime } = await loadSdk();
    const runtime = await NodeRuntime.create();
    const { exitCode } = await runtime.exec(PROGRAM).finally(() => runtime.dispose());
    return exitCode;
  });

/** The remedies for missing parts of the wall. */
const WALL_REMEDIES: Readonly<Record<string, string>> = {
  userNamespace: 'Allow user namespaces: see docs/walls.md for containers and for AppArmor.',
  landlock: 'Use Linux 6.12 or newer, with `landlock` in the list of the boot parameter `lsm`.',
  seccomp: 'Use a kernel with CONFIG_SECCOMP_FILTER.',
};

async function walls(): Promise<Finding> {
  const { Sidecar } = await loadSdk();
  const sidecar = await Sidecar.spawn();
  const parts = sidecar.walls;
  await sidecar.dispose();
  const found = parts.map(({ name, stands, reason }) => (stands ? `${name} stands` : `${name} is missing: ${reason}`)).join('; ');
  const missing = parts.filter(({ stands }) => !stands);
  if (missing.length === 0) return ok(found);
  const remedies = missing.flatMap(({ name }) => WALL_REMEDIES[name] ?? []);
  return warning(found, remedies.join(' ') || 'See docs/walls.md.');
}

const embedded = (): Promise<Finding> =>
  started(async () => {
    const { NodeRuntime, Sidecar } = await loadSdk();
    const sidecar = await Sidecar.embedded();
    try {
      const runtime = await NodeRuntime.create({ sidecar });
      return (await runtime.exec(PROGRAM)).exitCode;
    } finally {
      await sidecar.dispose();
    }
  });

async function shell(): Promise<Finding> {
  return started(async () => {
    const { NodeRuntime } = await loadSdk();
    const runtime = await NodeRuntime.create();
    const { exitCode } = await runtime.execCommand('sh', ['-c', 'echo a | grep -q a']).finally(() => runtime.dispose());
    return exitCode;
  });
}

/** The checks by the names that are printed. */
export const CHECKS: Readonly<Record<string, () => Promise<Finding>>> = {
  system,
  node,
  processor,
  memory,
  overcommit,
  mappings,
  limits,
  installation: installedFiles,
  'sandbox in a process': owned,
  walls,
  'sandbox in this process': embedded,
  shell,
};
