// Creates runtimes with packages of Python. The first call with a list installs the packages in a
// sandbox of its own, and stores the files as a snapshot on disk. All calls restore the snapshot.
// Its name is a digest of everything that determines the packages. Next: `python-inputs.ts`, the
// digest, and `python-build.ts`, the installation.

import { isColdframeError } from '../errors/error.js';
import { openingOf } from '../sidecar/openings.js';
import type { NodeRuntimeOptions } from './options.js';
import type { ProvisionedRuntime } from './provision.js';
import { buildPackages } from './python-build.js';
import { type PackageInputs, readInputs } from './python-inputs.js';

/** Creates a runtime without the option `python`. */
export type Provision = (options: NodeRuntimeOptions) => Promise<ProvisionedRuntime>;

/**
 * The running installations of each sidecar. Runtimes with a sidecar of their own share one entry.
 */
const builds = new WeakMap<object, Map<string, Promise<void>>>();
const OWN_SIDECARS = {};

/** Creates a runtime with the packages of the option `python`. */
export async function provisionWithPackages(options: NodeRuntimeOptions, provision: Provision): Promise<ProvisionedRuntime> {
  const inputs = await readInputs(options.python ?? {});
  const restored = restoring(options, inputs);
  try {
    return await provision(restored);
  } catch (error) {
    // A new snapshot with the name takes the place of the unusable one.
    if (!isColdframeError(error, 'ERR_SNAPSHOT_NOT_FOUND', 'ERR_SNAPSHOT_FOREIGN', 'ERR_SNAPSHOT_DAMAGED')) throw error;
  }
  await built(options, inputs, provision);
  return provision(restored);
}

function restoring({ python: _installed, limits, ...options }: NodeRuntimeOptions, { name }: PackageInputs): NodeRuntimeOptions {
  // A profile replaces all limits of the snapshot, which has the limits of the installation.
  return { ...options, limits: { profile: 'default', ...limits }, snapshot: name };
}

/** Installs the packages. Calls at the same time share one installation. */
function built(options: NodeRuntimeOptions, inputs: PackageInputs, provision: Provision): Promise<void> {
  const owner = options.sidecar === undefined ? OWN_SIDECARS : openingOf(options.sidecar).connection;
  const running = builds.get(owner) ?? new Map<string, Promise<void>>();
  builds.set(owner, running);
  const key = `${options.tenant ?? ''}\0${inputs.name}`;
  const build = running.get(key) ?? buildPackages(options, inputs, provision).finally(() => running.delete(key));
  running.set(key, build);
  return build;
}
