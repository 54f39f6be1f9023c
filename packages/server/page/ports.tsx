// Previews of servers in a sandbox. A preview is a page of another origin, PORT-ID.DOMAIN, in a
// frame that cannot change this page. The preview receives no key.

import { useState } from 'preact/hooks';
import { useLoaded } from './load';

/** Shows the server at one port. */
export function Ports({ id }: { id: string }) {
  const [text, setText] = useState('3000');
  const [port, setPort] = useState<number>();
  const [round, setRound] = useState(0);
  const { value: config } = useLoaded(
    async () => (await fetch('config.json')).json() as Promise<{ domain: string | null }>,
    'config',
  );
  const open = (event: Event): void => {
    event.preventDefault();
    setPort(Number(text));
    setRound((before) => before + 1);
  };
  const own = location.port === '' ? '' : `:${location.port}`;
  const url = port === undefined ? undefined : `${location.protocol}//${port}-${id}.${config?.domain ?? 'localhost'}${own}/`;
  return (
    <>
      <form class="row tools" onSubmit={open}>
        <label for="port">Port</label>
        <input
          id="port"
          type="number"
          min="1"
          max="65535"
          required
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Show
        </button>
        {url !== undefined && (
          <a href={url} target="_blank" rel="noopener noreferrer">
            Open in a new tab
          </a>
        )}
      </form>
      {url === undefined ? (
        <p class="note">A server in the sandbox, for example at port 3000, appears here.</p>
      ) : (
        <iframe
          key={round}
          class="preview"
          title={`Preview of port ${port}`}
          src={url}
          sandbox="allow-scripts allow-forms allow-same-origin allow-modals"
          referrerpolicy="no-referrer"
        />
      )}
    </>
  );
}
