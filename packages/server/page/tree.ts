// The tree of a sandbox and its snapshots. The root is the template of the first sandbox. The
// sandboxes and snapshots that continue from a snapshot are below the snapshot.

import type { SandboxEntry, SnapshotEntry } from '../src/client/index.js';

/** A node of the tree. */
export type Node =
  | { kind: 'origin'; id: string; children: Node[] }
  | { kind: 'sandbox'; entry: SandboxEntry; children: Node[] }
  | { kind: 'snapshot'; entry: SnapshotEntry; children: Node[] };

/** Returns the id of a snapshot without its tag. */
export const bareId = (id: string): string => id.replace(/:.*$/, '');

/**
 * Returns the tree that contains a sandbox. The root is the sandbox whose template is no known
 * snapshot.
 */
export function treeOf(sandboxId: string, sandboxes: readonly SandboxEntry[], snapshots: readonly SnapshotEntry[]): Node {
  const byId = new Map(snapshots.map((snapshot) => [bareId(snapshot.snapshotID), snapshot]));
  const own = new Map(sandboxes.map((entry) => [entry.sandboxID, entry]));
  const seen = new Set<string>();
  let root = sandboxId;
  for (let entry = own.get(root); entry !== undefined && !seen.has(root); entry = own.get(root)) {
    seen.add(root);
    const parent = byId.get(bareId(entry.templateID))?.sandboxID;
    if (parent === undefined || !own.has(parent)) break;
    root = parent;
  }
  const shown = new Set<string>();
  const snapshotNode = (entry: SnapshotEntry): Node[] => {
    const id = bareId(entry.snapshotID);
    if (shown.has(id)) return [];
    shown.add(id);
    const later = snapshots.filter(({ parentID }) => parentID !== undefined && bareId(parentID) === id);
    const branches = sandboxes.filter(({ templateID }) => bareId(templateID) === id);
    return [{ kind: 'snapshot', entry, children: [...later.flatMap(snapshotNode), ...branches.flatMap(sandboxNode)] }];
  };
  const sandboxNode = (entry: SandboxEntry): Node[] => {
    if (shown.has(entry.sandboxID)) return [];
    shown.add(entry.sandboxID);
    const taken = snapshots.filter(({ sandboxID }) => sandboxID === entry.sandboxID);
    const ids = new Set(taken.map(({ snapshotID }) => bareId(snapshotID)));
    // A snapshot after another snapshot of the sandbox is a child of that snapshot.
    const first = taken.filter(({ parentID }) => parentID === undefined || !ids.has(bareId(parentID)));
    return [{ kind: 'sandbox', entry, children: first.flatMap(snapshotNode) }];
  };
  const entry = own.get(root);
  const children = entry === undefined ? [] : sandboxNode(entry);
  return { kind: 'origin', id: entry?.alias ?? entry?.templateID ?? 'base', children };
}
