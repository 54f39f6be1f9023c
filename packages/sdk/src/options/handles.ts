// Recognises handles of this copy of the package without importing their classes, because the
// classes import the options. The constructor of each class adds the new instance.

const sidecars = new WeakSet<object>();
const snapshots = new WeakSet<object>();
const networks = new WeakSet<object>();

/** Adds a new `Sidecar`. */
export const addSidecar = (handle: object): void => void sidecars.add(handle);

/** Adds a new `Snapshot`. */
export const addSnapshot = (handle: object): void => void snapshots.add(handle);

/** Adds a new `Network`. */
export const addNetwork = (handle: object): void => void networks.add(handle);

/** Returns whether `value` is a `Sidecar`. */
export const isSidecar = (value: unknown): boolean => typeof value === 'object' && value !== null && sidecars.has(value);

/** Returns whether `value` is a `Snapshot`. */
export const isSnapshot = (value: unknown): boolean => typeof value === 'object' && value !== null && snapshots.has(value);

/** Returns whether `value` is a `Network`. */
export const isNetwork = (value: unknown): boolean => typeof value === 'object' && value !== null && networks.has(value);
