// Loads the parts of runtimes with the first runtime, while its sidecar starts. An app that only
// imports the package does not wait for the parts.

import type { LastingOptions, RuntimeParts } from './parts.js';
import type { ProvisionedRuntime } from './provision.js';

let loaded: typeof import('./parts.js') | undefined;

/** Resolves as `request`. Meanwhile loads the parts, if they are not loaded yet. */
export function whileLoadingParts<T>(request: Promise<T>): Promise<T> {
  return loaded === undefined ? loadDuring(request) : request;
}

async function loadDuring<T>(request: Promise<T>): Promise<T> {
  const [result, parts] = await Promise.all([request, import('./parts.js')]);
  loaded = parts;
  return result;
}

/** Makes the parts of a runtime that `provision()` has returned. */
export function makeParts(provisioned: ProvisionedRuntime, options: LastingOptions): RuntimeParts {
  const parts = loaded as NonNullable<typeof loaded>;
  return new parts.RuntimeParts(provisioned, options);
}
