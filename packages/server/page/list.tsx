// The list of sandboxes with a filter.

import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';
import type { SandboxEntry } from '../src/client/index.js';
import { age, duration } from './format';
import { hrefOf } from './place';

interface Props {
  sandboxes: readonly SandboxEntry[] | undefined;
  failure: string | undefined;
  selected: string | undefined;
  filter: RefObject<HTMLInputElement | null>;
  onCreate: () => void;
}

/** Lists the sandboxes, the newest first. */
export function List({ sandboxes, failure, selected, filter, onCreate }: Props) {
  const [text, setText] = useState('');
  const shown = (sandboxes ?? []).filter((entry) => matches(entry, text.trim().toLowerCase()));
  return (
    <>
      <div class="row tools">
        <input
          ref={filter}
          type="search"
          placeholder="Filter (/)"
          aria-label="Filter the sandboxes"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="button" class="primary" onClick={onCreate}>
          New
        </button>
      </div>
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      <ul class="sandboxes">
        {shown.map((entry) => (
          <li key={entry.sandboxID}>
            <a href={hrefOf(entry.sandboxID)} aria-current={entry.sandboxID === selected ? 'page' : undefined}>
              <span class={entry.metadata['name'] === undefined ? 'id name' : 'name'}>
                {entry.metadata['name'] ?? entry.sandboxID}
              </span>
              <span class={`state ${entry.state}`}>{entry.state}</span>
              <span class="note">
                {entry.alias ?? entry.templateID}, {age(entry.startedAt)} old
                {entry.state === 'running' && `, ends in ${duration((Date.parse(entry.endAt) - Date.now()) / 1_000)}`}
              </span>
              {metadataText(entry) !== '' && <span class="note">{metadataText(entry)}</span>}
            </a>
          </li>
        ))}
      </ul>
      {sandboxes !== undefined && shown.length === 0 && (
        <p class="note pad">{sandboxes.length === 0 ? 'There are no sandboxes.' : 'No sandbox matches the filter.'}</p>
      )}
    </>
  );
}

const metadataText = ({ metadata }: SandboxEntry): string =>
  Object.entries(metadata)
    .filter(([name]) => name !== 'name')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

function matches(entry: SandboxEntry, text: string): boolean {
  const words = [entry.sandboxID, entry.templateID, entry.alias ?? '', entry.state, ...Object.entries(entry.metadata).flat()];
  return text === '' || words.some((word) => word.toLowerCase().includes(text));
}
