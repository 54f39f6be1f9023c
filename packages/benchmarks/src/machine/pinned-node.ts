// Finds the pinned Node that floors and comparisons start. The guest image contains the library of
// this release. The benchmark itself may run in another release.

import { pinnedNode as find } from '@coldframe/pinned-node';

/**
 * Returns the path of the pinned binary.
 * @throws when the package is not installed, or does not exist for the processor architecture of
 * this machine.
 */
export const pinnedNode = (): string => find().binary;

/** Returns the pinned Node, or the Node of this process if the pinned Node is not installed. */
export function pinnedOrOwnNode(): string {
  try {
    return pinnedNode();
  } catch {
    return process.execPath;
  }
}

/** Returns the environment without Node's own variables, which would slow a Node process down. */
export function environmentForNode(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...environment } = process.env;
  return environment;
}
