// Recognises handles of this copy of the package without importing their classes, because the
// classes import the options. The constructor of each class adds the new instance.

const sidecars = new WeakSet<object>();
const snapshots = new WeakSet<object>();

/** Adds a new `Sidecar`. */
export const addSidecar = (handle: object): void => void sidecars.add(handle);

/** Adds a new `Snapshot`. */
export const addSnapshot = (handle: object): void => void snapshots.add(handle);

/** Returns whether `value` is a `Sidecar`. */
export const isSidecar = (value: unknown): boolean => typeof value === 'object' && value !== null && sidecars.has(value);

/** Returns whether `value` is a `Snapshot`. */
export const isSnapshot = (value: unknown): boolean => typeof value === 'object' && value !== null && snapshots.has(value);
