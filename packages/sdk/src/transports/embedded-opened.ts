// Open files, archives and watches of a runtime over the addon. The core answers each call at once,
// except the wait for changes.

import type { ChangeList, OpenedFiles } from '../channel/opened.js';
import type { AddonCore } from './addon.js';

/**
 * Implements the calls. `call` runs a function of the core; `wait` returns the result of a request.
 */
export function openedIn(
  call: <T>(work: (core: AddonCore) => T) => T,
  nextId: () => number,
  wait: <T>(id: number) => Promise<T>,
): OpenedFiles {
  return {
    open: async ({ runtime, path, for: purpose, mode }) => call((core) => core.openFile(runtime, path, purpose, mode)),
    close: async ({ runtime, handle, discard = false }) => call((core) => core.closeFile(runtime, handle, discard)),
    pull: async ({ runtime, handle, offset = 0, length }) => call((core) => core.pullFile(runtime, handle, offset, length)),
    push: async ({ runtime, handle, offset = 0, data }) => call((core) => core.pushFile(runtime, handle, offset, data)),
    watch: async ({ runtime, path, recursive = false }) => call((core) => core.watchFile(runtime, path, recursive)),
    changes: async ({ runtime, handle }) => {
      const id = nextId();
      call((core) => core.nextChanges(id, runtime, handle));
      return wait<ChangeList>(id);
    },
    set: async ({ runtime, path, follow = true, mode, atimeUs, mtimeUs }) =>
      call((core) => core.setFile(runtime, path, follow, mode, atimeUs, mtimeUs)),
    link: async ({ runtime, path, target, hard = false }) => call((core) => core.linkFile(runtime, path, target, hard)),
    readlink: async ({ runtime, path }) => call((core) => core.readLink(runtime, path)),
  };
}
