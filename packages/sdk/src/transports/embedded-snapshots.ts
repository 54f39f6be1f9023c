// Snapshots over the addon. A call that needs only memory may return its result; the result of any
// other call is an event.

import type { OutputListener } from '../channel/channel.js';
import type { RestoredProgram, WireBinding, WireMount } from '../channel/messages.js';
import type { Outcome } from '../channel/outcome.js';
import type { RuntimeCopy, SnapshotEntries, SnapshotLink, WireSnapshot } from '../channel/snapshots.js';
import type { Warnings } from '../channel/warnings.js';
import type { AddonCore } from './addon.js';

/** The addon, as its connection provides it. */
export interface AddonRequests {
  /** Runs a function of the core. */
  call<T>(work: (core: AddonCore) => T): T;
  nextId(): number;
  /** Returns the result of a request. */
  wait<T>(id: number, onOutput?: OutputListener): Promise<T>;
  warnings: Warnings;
}

/** Converts mounts for the addon: guest path, host path or number, and access. */
export function flatMounts(mounts: readonly WireMount[] | undefined): string[] | undefined {
  const access = ({ readOnly, overlay }: WireMount): string => (overlay ? 'overlay' : readOnly ? 'ro' : 'rw');
  return mounts?.flatMap((mount) =>
    mount.fileSystem === undefined
      ? [mount.guestPath, mount.hostPath, access(mount)]
      : [mount.guestPath, String(mount.fileSystem), `app-${access(mount)}`],
  );
}

/** Converts bindings for the addon: name, commands separated by spaces, largest input. */
export function flatBindings(bindings: readonly WireBinding[] | undefined): string[] | undefined {
  return bindings?.flatMap(({ name, commands, inputBytes }) => [name, commands.join(' '), String(inputBytes)]);
}

/** Implements the calls. */
export function snapshotsIn({ call, nextId, wait, warnings }: AddonRequests): SnapshotLink {
  // Returns the result of the call, or of the event that ends the request.
  const request = async <T>(begin: (core: AddonCore, id: number) => T | undefined): Promise<T> => {
    const id = nextId();
    return call((core) => begin(core, id)) ?? wait<T>(id);
  };
  const done = async (begin: (core: AddonCore, id: number) => void): Promise<void> => {
    const id = nextId();
    call((core) => begin(core, id));
    await wait(id);
  };
  return {
    take: ({ runtime, name, labels = {}, disk = false, timeoutMs }) =>
      request<WireSnapshot>((core, id) => core.takeSnapshot(id, runtime, disk, timeoutMs, name, Object.entries(labels).flat())),
    rollback: ({ runtime, snapshot }) => request<RestoredProgram[]>((core, id) => core.rollback(id, runtime, snapshot)),
    clone: async ({ runtime, count, timeoutMs, settle = false, warn, mounts, bindings }, onWarning) => {
      const flat = flatMounts(mounts);
      const copies = await request<RuntimeCopy[]>((core, id) =>
        core.cloneRuntime(id, runtime, count, settle, warn ?? false, timeoutMs, flat, flatBindings(bindings)),
      );
      for (const copy of copies) if (copy.runtime !== undefined) warnings.listen(copy.runtime, onWarning);
      return copies;
    },
    pause: ({ runtime, timeoutMs, temporary = false }) =>
      request<WireSnapshot>((core, id) => core.pauseRuntime(id, runtime, timeoutMs, temporary)),
    resume: ({ runtime, warn = false, mounts, bindings }) =>
      request<RestoredProgram[]>((core, id) => core.resumeRuntime(id, runtime, warn, flatMounts(mounts), flatBindings(bindings))),
    list: (tenant) => request<SnapshotEntries>((core, id) => core.listSnapshots(id, tenant)),
    get: ({ tenant, snapshot }) => request<WireSnapshot>((core, id) => core.getSnapshot(id, tenant, snapshot)),
    delete: ({ tenant, snapshot }) => done((core, id) => core.deleteSnapshot(id, tenant, snapshot)),
    export: ({ tenant, snapshot, path }) => done((core, id) => core.exportSnapshot(id, tenant, snapshot, path)),
    import: ({ tenant, path }) => request<WireSnapshot>((core, id) => core.importSnapshot(id, tenant, path)),
    persist: ({ tenant, snapshot }) => done((core, id) => core.persistSnapshot(id, tenant, snapshot)),
    digest: ({ tenant, snapshot }) => request<string>((core, id) => core.digestSnapshot(id, tenant, snapshot)),
    attach: async (id, { runtime, pid, stream }, onOutput, onStarted) => {
      const bits = (stream?.stdout ? 1 : 0) | (stream?.stderr ? 2 : 0);
      call((core) => core.attachProcess(id, runtime, pid, bits));
      const outcome = wait<Outcome>(id, onOutput);
      onStarted?.(pid);
      return outcome;
    },
  };
}
