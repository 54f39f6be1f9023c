/** The pinned release of Node on this machine. */
export interface PinnedNode {
  /** The path of the binary. */
  binary: string;
  /** The version, without a `v`. */
  version: string;
  /** The path of the licence. */
  license: string;
}

/**
 * Finds the pinned release of Node.
 * @throws when the package is not installed, or does not exist for the processor of this machine.
 */
export function pinnedNode(): PinnedNode;
