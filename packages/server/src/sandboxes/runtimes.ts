// Makes the runtimes of sandboxes: from the template `base`, or from a snapshot. Each runtime gets
// the connections, the secrets and the volumes of its sandbox.

import { isColdframeError, NodeRuntime, type NodeRuntimeOptions, type Sidecar } from 'coldframe';
import type { VolumeMount } from '../registry/records.js';
import type { Secrets } from '../secrets/secrets.js';
import type { Volumes } from '../volumes/volumes.js';
import { type BaseParts, makeBase } from './base.js';
import { SandboxFailure } from './failure.js';
import { type NetworkConfig, policyOf, secretName } from './network.js';

/** The wishes of a sandbox that its runtime must meet. */
export interface RuntimeWish {
  tenant: string;
  network: NetworkConfig;
  volumeMounts: readonly VolumeMount[];
}

/** The parts of the server that runtimes are made from. */
export interface RuntimeSources {
  sidecar: Sidecar;
  secrets: Secrets;
  volumes: Volumes;
  limits: NonNullable<NodeRuntimeOptions['limits']>;
  /** Whether sandboxes without a choice of their client reach the internet. */
  internetAccess: boolean;
}

/** Makes runtimes. */
export class Runtimes {
  readonly #sources: RuntimeSources;
  /** A runtime of `base` for each tenant, whose clones are the sandboxes. */
  readonly #bases = new Map<string, Promise<NodeRuntime>>();

  constructor(sources: RuntimeSources) {
    this.#sources = sources;
  }

  /** Makes a runtime of the template `base`. */
  async fromBase(wish: RuntimeWish): Promise<NodeRuntime> {
    if (wish.volumeMounts.length > 0) return makeBase({ ...this.#parts(wish), ...this.#mounts(wish) });
    const base = await this.#base(wish.tenant);
    return Object.keys(wish.network).length === 0 ? base.clone() : base.clone(this.#policy(wish));
  }

  /**
   * Makes a runtime from a snapshot, which has the environment and the working directory. The
   * limits of the snapshot apply, or for an imported snapshot the limits of this server.
   */
  async fromSnapshot(wish: RuntimeWish, snapshot: string, isImported = false): Promise<NodeRuntime> {
    const { sidecar, limits } = this.#sources;
    const own = isImported ? { limits: { profile: 'default', ...limits } as const } : {};
    return NodeRuntime.create({ sidecar, tenant: wish.tenant, snapshot, ...own, ...this.#policy(wish), ...this.#mounts(wish) });
  }

  /** Changes the connections of a running runtime. */
  async update(runtime: NodeRuntime, wish: RuntimeWish): Promise<void> {
    const { network, secrets } = this.#policy(wish);
    const known = new Map(runtime.secrets.list().map(({ name, hosts }) => [name, hosts]));
    const isNew = Object.entries(secrets).some(([name, { hosts }]) => !hosts.every((host) => known.get(name)?.includes(host)));
    if (isNew) {
      // A running runtime accepts no further secrets.
      await runtime.pause();
      await runtime.resume({ network, secrets });
      return;
    }
    for (const [name, { value }] of Object.entries(secrets)) await runtime.secrets.set(name, value as string);
    await runtime.network.update({ ...network, dns: network.dns ?? null });
  }

  /** Ends the runtimes that only clones are made of. */
  async close(): Promise<void> {
    for (const base of await Promise.allSettled(this.#bases.values())) {
      if (base.status === 'fulfilled') await base.value.dispose();
    }
  }

  #base(tenant: string): Promise<NodeRuntime> {
    const known = this.#bases.get(tenant);
    if (known !== undefined) return known;
    const made = makeBase(this.#parts({ tenant, network: {}, volumeMounts: [] }));
    this.#bases.set(tenant, made);
    made.catch(() => this.#bases.delete(tenant));
    return made;
  }

  #parts(wish: RuntimeWish): BaseParts {
    const { sidecar, limits } = this.#sources;
    return { sidecar, tenant: wish.tenant, limits, ...this.#policy(wish) };
  }

  #policy({ tenant, network: config }: RuntimeWish) {
    const { network, secretHosts } = policyOf(config, this.#sources.internetAccess);
    const secrets: Record<string, { value: string; hosts: readonly string[]; env: false }> = {};
    for (const [name, hosts] of secretHosts) {
      secrets[secretName(name)] = { value: this.#sources.secrets.valueOf(tenant, name), hosts, env: false };
    }
    return { network, secrets };
  }

  #mounts({ tenant, volumeMounts }: RuntimeWish): Pick<BaseParts, 'mounts'> {
    if (volumeMounts.length === 0) return {};
    return {
      mounts: volumeMounts.map(({ name, path }) => ({
        guestPath: path,
        fileSystem: this.#sources.volumes.fileSystemOf(tenant, name),
      })),
    };
  }
}

/** Returns the failure of a runtime that could not be made. */
export function notMade(error: unknown): SandboxFailure {
  if (error instanceof SandboxFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (isColdframeError(error, 'ERR_INVALID_REQUEST') || isColdframeError(error, 'ERR_INVALID_OPTION')) {
    return new SandboxFailure('invalid', message, { cause: error });
  }
  if (isColdframeError(error, 'ERR_RESOURCE_EXHAUSTED')) {
    return new SandboxFailure('full', `The server is full: ${message}`, { cause: error });
  }
  return new SandboxFailure('no-room', `The sandbox was not created: ${message}`, { cause: error });
}
