// The dialog for a new sandbox.

import { useState } from 'preact/hooks';
import type { Client } from '../src/client/index.js';
import { Dialog } from './dialog';
import { useLoaded } from './load';

interface Props {
  client: Client;
  onClose: () => void;
  onCreated: (id: string) => void;
}

/** Creates a sandbox from a template or a snapshot. */
export function Create({ client, onClose, onCreated }: Props) {
  const [template, setTemplate] = useState('base');
  const [minutes, setMinutes] = useState('60');
  const [autoPause, setAutoPause] = useState(true);
  const [name, setName] = useState('');
  const { value: templates } = useLoaded(() => client.templates().catch(() => []), 'templates');
  const { value: snapshots } = useLoaded(() => client.snapshots(), 'snapshots');
  const submit = async (): Promise<void> => {
    const created = await client.create({
      templateID: template.trim(),
      timeout: Math.round(Number(minutes) * 60),
      autoPause,
      ...(name.trim() === '' ? {} : { metadata: { name: name.trim() } }),
    });
    onCreated(created.sandboxID);
  };
  return (
    <Dialog title="New sandbox" action="Create" onClose={onClose} onSubmit={submit}>
      <label for="template">Template or snapshot</label>
      <input
        id="template"
        required
        list="templates"
        value={template}
        onInput={(event) => setTemplate(event.currentTarget.value)}
      />
      <datalist id="templates">
        <option value="base" />
        {(templates ?? []).map(({ templateID, names, aliases }) => (
          <option key={templateID} value={templateID} label={(names ?? aliases ?? []).join(' ')} />
        ))}
        {(snapshots ?? []).map(({ snapshotID, names }) => (
          <option key={snapshotID} value={snapshotID.replace(/:default$/, '')} label={names.join(' ')} />
        ))}
      </datalist>
      <label for="name">Name</label>
      <input id="name" placeholder="optional" value={name} onInput={(event) => setName(event.currentTarget.value)} />
      <label for="minutes">Minutes until the end</label>
      <input
        id="minutes"
        type="number"
        min="1"
        max="43200"
        required
        value={minutes}
        onInput={(event) => setMinutes(event.currentTarget.value)}
      />
      <label class="check">
        <input type="checkbox" checked={autoPause} onChange={(event) => setAutoPause(event.currentTarget.checked)} />
        Pause the sandbox at its end, with files and programs
      </label>
    </Dialog>
  );
}
