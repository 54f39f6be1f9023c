// The form that asks for the key of the API.

import { useState } from 'preact/hooks';
import { Client } from '../src/client/index.js';
import { textOf } from './load';

/** Calls `onKey` with a key that the server accepts. */
export function Login({ onKey }: { onKey: (key: string) => void }) {
  const [key, setKey] = useState('');
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await new Client({ url: location.origin, apiKey: key.trim() }).list();
      onKey(key.trim());
    } catch (error) {
      setFailure(textOf(error));
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form onSubmit={(event) => void submit(event)}>
        <h1>
          <img src="icon.svg" alt="" width="28" height="28" /> Coldframe
        </h1>
        <label for="key">API key</label>
        <input
          id="key"
          type="password"
          autocomplete="current-password"
          required
          autofocus
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          aria-describedby="key-help"
        />
        <p id="key-help" class="note">
          <code>coldframe serve</code> prints the key. This tab keeps the key until the tab is closed.
        </p>
        {failure !== undefined && (
          <p class="failure" role="alert">
            {failure}
          </p>
        )}
        <button type="submit" class="primary" disabled={isBusy}>
          Log in
        </button>
      </form>
    </main>
  );
}
