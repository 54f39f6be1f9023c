// The frame of the page: login, the list of sandboxes, and one sandbox. In a narrow window the page
// shows either the list or the sandbox.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Client } from '../src/client/index.js';
import { Create } from './create';
import { List } from './list';
import { useLoaded } from './load';
import { Login } from './login';
import { hrefOf, useAddress } from './place';
import { SandboxView } from './sandbox';

const KEY = 'coldframe-key';
const LIST_MS = 2_000;

/** The page. The key is kept until the tab is closed, and for this tab only. */
export function App() {
  const [key, setKey] = useState(() => sessionStorage.getItem(KEY) ?? undefined);
  const client = useMemo(() => new Client({ url: location.origin, apiKey: key ?? '' }), [key]);
  if (key === undefined) {
    const enter = (given: string): void => {
      sessionStorage.setItem(KEY, given);
      setKey(given);
    };
    return <Login onKey={enter} />;
  }
  const leave = (): void => {
    sessionStorage.removeItem(KEY);
    setKey(undefined);
  };
  return <Console client={client} onLeave={leave} />;
}

function Console({ client, onLeave }: { client: Client; onLeave: () => void }) {
  const { id, tab } = useAddress();
  const { value: sandboxes, failure, reload } = useLoaded(() => client.list(), 'list', LIST_MS);
  const [isCreating, setCreating] = useState(false);
  const filter = useRef<HTMLInputElement>(null);

  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { target, key, ctrlKey, metaKey, altKey } = event;
      const isTyping = target instanceof HTMLElement && target.closest('input, textarea, select, dialog, .xterm') !== null;
      if (isTyping || ctrlKey || metaKey || altKey) return;
      if (key === '/') {
        event.preventDefault();
        filter.current?.focus();
      }
      if (key === 'n') setCreating(true);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);

  const entry = sandboxes?.find(({ sandboxID }) => sandboxID === id);
  return (
    <div class={`console ${id === undefined ? 'at-list' : 'at-sandbox'}`}>
      <header class="top">
        <a class="brand" href={hrefOf(undefined)}>
          <img src="icon.svg" alt="" width="22" height="22" />
          Coldframe
        </a>
        <span class="grow" />
        <button type="button" class="quiet" onClick={onLeave}>
          Log out
        </button>
      </header>
      <nav class="side" aria-label="Sandboxes">
        <List sandboxes={sandboxes} failure={failure} selected={id} filter={filter} onCreate={() => setCreating(true)} />
      </nav>
      <main class="main">
        {id === undefined ? (
          <Welcome count={sandboxes?.length} onCreate={() => setCreating(true)} />
        ) : (
          <SandboxView
            key={id}
            client={client}
            id={id}
            tab={tab}
            entry={entry}
            all={sandboxes ?? []}
            isMissing={sandboxes !== undefined && entry === undefined}
            onChange={reload}
          />
        )}
      </main>
      {isCreating && (
        <Create
          client={client}
          onClose={() => setCreating(false)}
          onCreated={(created) => {
            setCreating(false);
            reload();
            location.hash = hrefOf(created);
          }}
        />
      )}
    </div>
  );
}

function Welcome({ count, onCreate }: { count: number | undefined; onCreate: () => void }) {
  return (
    <div class="empty">
      <h1>{count === 0 ? 'No sandbox yet' : 'Select a sandbox'}</h1>
      <p>
        Press <kbd>n</kbd> for a new sandbox, and <kbd>/</kbd> for the filter of the list.
      </p>
      <button type="button" class="primary" onClick={onCreate}>
        New sandbox
      </button>
    </div>
  );
}
