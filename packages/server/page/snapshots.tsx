// The snapshots of a sandbox as a tree, with rollback and branches.

import { useState } from 'preact/hooks';
import type { Client, SandboxEntry, SnapshotEntry } from '../src/client/index.js';
import { Dialog } from './dialog';
import { age } from './format';
import { textOf, useLoaded } from './load';
import { hrefOf } from './place';
import { bareId, type Node, treeOf } from './tree';

interface Props {
  client: Client;
  entry: SandboxEntry;
  all: readonly SandboxEntry[];
  onChange: () => void;
}

const SNAPSHOTS_MS = 5_000;
/** The time of a new branch in seconds. */
const BRANCH_S = 3_600;

/** Shows the tree, and takes snapshots. */
export function Snapshots({ client, entry, all, onChange }: Props) {
  const { sandboxID: id, state } = entry;
  const { value: snapshots, failure, reload } = useLoaded(() => client.snapshots(), 'snapshots', SNAPSHOTS_MS);
  const [isNaming, setNaming] = useState(false);
  const [name, setName] = useState('');
  const [rolled, setRolled] = useState<SnapshotEntry>();
  const [removed, setRemoved] = useState<SnapshotEntry>();
  const [notice, setNotice] = useState<string>();

  const branch = async ({ snapshotID }: SnapshotEntry): Promise<void> => {
    try {
      const created = await client.create({ templateID: bareId(snapshotID), timeout: BRANCH_S, autoPause: true });
      onChange();
      location.hash = hrefOf(created.sandboxID, 'snapshots');
    } catch (error) {
      setNotice(textOf(error));
    }
  };
  const actions = { onBranch: branch, onRollback: state === 'running' ? setRolled : undefined, onRemove: setRemoved };
  return (
    <>
      <div class="row tools">
        <p class="note grow">A rollback returns this sandbox to a snapshot. A branch is a new sandbox from a snapshot.</p>
        <button type="button" class="primary" disabled={state !== 'running'} onClick={() => setNaming(true)}>
          Take a snapshot
        </button>
      </div>
      {notice !== undefined && (
        <p class="failure" role="alert">
          {notice}
        </p>
      )}
      {failure !== undefined && <p class="failure">{failure}</p>}
      {snapshots !== undefined && (
        <ul class="tree">
          <TreeNode node={treeOf(id, all, snapshots)} selected={id} {...actions} />
        </ul>
      )}
      {isNaming && (
        <Dialog
          title="Take a snapshot"
          action="Take"
          onClose={() => setNaming(false)}
          onSubmit={async () => {
            await client.snapshot(id, name.trim() === '' ? undefined : name.trim());
            setNaming(false);
            setName('');
            reload();
          }}
        >
          <label for="snapshot">Name</label>
          <input
            id="snapshot"
            placeholder="optional"
            pattern="[a-z0-9_\-]*"
            title="lower-case letters, digits, - and _"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Dialog>
      )}
      {rolled !== undefined && (
        <Dialog
          title="Roll back?"
          action="Roll back"
          isDangerous
          onClose={() => setRolled(undefined)}
          onSubmit={async () => {
            await client.rollback(id, rolled.snapshotID);
            setRolled(undefined);
            onChange();
            reload();
          }}
        >
          <p>Changes of files and programs since {titleOf(rolled)} are lost.</p>
        </Dialog>
      )}
      {removed !== undefined && (
        <Dialog
          title="Delete the snapshot?"
          action="Delete"
          isDangerous
          onClose={() => setRemoved(undefined)}
          onSubmit={async () => {
            await client.deleteTemplate(bareId(removed.snapshotID));
            setRemoved(undefined);
            reload();
          }}
        >
          <p>{titleOf(removed)}</p>
        </Dialog>
      )}
    </>
  );
}

interface Actions {
  selected: string;
  onBranch: (snapshot: SnapshotEntry) => Promise<void>;
  onRollback: ((snapshot: SnapshotEntry) => void) | undefined;
  onRemove: (snapshot: SnapshotEntry) => void;
}

function TreeNode({ node, ...actions }: { node: Node } & Actions) {
  return (
    <li>
      <Label node={node} {...actions} />
      {node.children.length > 0 && (
        <ul>
          {node.children.map((child) => (
            <TreeNode key={keyOf(child)} node={child} {...actions} />
          ))}
        </ul>
      )}
    </li>
  );
}

const keyOf = (node: Node): string =>
  node.kind === 'origin' ? node.id : node.kind === 'sandbox' ? node.entry.sandboxID : node.entry.snapshotID;

const titleOf = ({ names, snapshotID }: SnapshotEntry): string => names[0] ?? bareId(snapshotID);

function Label({ node, selected, onBranch, onRollback, onRemove }: { node: Node } & Actions) {
  if (node.kind === 'origin') return <div class="node origin">template {node.id}</div>;
  if (node.kind === 'sandbox') {
    const { sandboxID, state, metadata } = node.entry;
    return (
      <div class={`node box ${sandboxID === selected ? 'selected' : ''}`}>
        <a href={hrefOf(sandboxID, 'snapshots')} aria-current={sandboxID === selected ? 'true' : undefined}>
          {metadata['name'] ?? sandboxID}
        </a>
        <span class={`state ${state}`}>{state}</span>
      </div>
    );
  }
  const { entry } = node;
  const title = titleOf(entry);
  const isOwn = entry.sandboxID === selected;
  return (
    <div class="node snapshot">
      <span class="grow">
        <span class="mono">{title}</span>
        {entry.createdAt !== undefined && <span class="note"> {age(entry.createdAt)} ago</span>}
      </span>
      {isOwn && onRollback !== undefined && (
        <button type="button" class="quiet" aria-label={`Roll back to ${title}`} onClick={() => onRollback(entry)}>
          Roll back
        </button>
      )}
      <button type="button" class="quiet" aria-label={`Branch from ${title}`} onClick={() => void onBranch(entry)}>
        Branch
      </button>
      <button type="button" class="quiet" aria-label={`Delete ${title}`} onClick={() => onRemove(entry)}>
        Delete
      </button>
    </div>
  );
}
