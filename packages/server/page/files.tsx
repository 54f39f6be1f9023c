// The files of a sandbox: browse, view, upload, download, delete. The content of a file is shown as
// text, or as a picture in a format without scripts.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Agent, FileEntry } from '../src/client/index.js';
import { Dialog } from './dialog';
import { bytes, clock } from './format';
import { textOf, useLoaded } from './load';

const HOME = '/home/user';
const FOLDER_MS = 5_000;
/** The largest file that the page shows. */
const SHOWN_BYTES = 512 << 10;
const PICTURE_BYTES = 8 << 20;
const PICTURES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

const joined = (folder: string, name: string): string => (folder === '/' ? `/${name}` : `${folder}/${name}`);
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/';

/** Shows one directory, and a file of the directory. */
export function Files({ agent }: { agent: Agent }) {
  const [folder, setFolder] = useState(HOME);
  const [shown, setShown] = useState<FileEntry>();
  const [removed, setRemoved] = useState<FileEntry>();
  const [isNaming, setNaming] = useState(false);
  const [name, setName] = useState('');
  const [notice, setNotice] = useState<string>();
  const picker = useRef<HTMLInputElement>(null);
  const { value: entries, failure, reload } = useLoaded(() => agent.listDir(folder), folder, FOLDER_MS);

  const open = (path: string): void => {
    setShown(undefined);
    setFolder(path);
  };
  const upload = async (files: FileList | null): Promise<void> => {
    try {
      for (const file of files ?? []) {
        setNotice(`Uploading ${file.name}`);
        await agent.write(joined(folder, file.name), file);
      }
      setNotice(undefined);
    } catch (error) {
      setNotice(textOf(error));
    }
    reload();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button Upload does the same by keyboard
    <div
      class="files"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void upload(event.dataTransfer?.files ?? null);
      }}
    >
      <div class="row tools">
        <Crumbs path={folder} onOpen={open} />
        <button type="button" onClick={() => setNaming(true)}>
          New folder
        </button>
        <button type="button" class="primary" onClick={() => picker.current?.click()}>
          Upload
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to upload"
          onChange={({ currentTarget }) => void upload(currentTarget.files).then(() => (currentTarget.value = ''))}
        />
      </div>
      {notice !== undefined && (
        <p class="note" role="status">
          {notice}
        </p>
      )}
      {failure !== undefined && <p class="failure">{failure}</p>}
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" class="end">
              Size
            </th>
            <th scope="col" class="wide">
              Changed
            </th>
            <th scope="col" class="wide">
              Owner
            </th>
            <th scope="col">
              <span class="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {(entries ?? []).map((entry) => (
            <tr key={entry.path} class={entry.path === shown?.path ? 'selected' : undefined}>
              <td>
                <button
                  type="button"
                  class={`link ${entry.type}`}
                  onClick={() => (entry.type === 'directory' ? open(entry.path) : setShown(entry))}
                >
                  {entry.name}
                  {entry.type === 'directory' && '/'}
                </button>
              </td>
              <td class="end number">{entry.type === 'directory' ? '' : bytes(entry.size)}</td>
              <td class="wide">{clock(entry.modifiedTime)}</td>
              <td class="wide">
                <span class="mono">{entry.permissions}</span> {entry.owner}
              </td>
              <td class="end">
                {entry.type !== 'directory' && (
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`Download ${entry.name}`}
                    onClick={() => void download(agent, entry).catch((error) => setNotice(textOf(error)))}
                  >
                    Download
                  </button>
                )}
                <button type="button" class="quiet" aria-label={`Delete ${entry.name}`} onClick={() => setRemoved(entry)}>
                  Delete
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {entries?.length === 0 && <p class="note pad">The directory is empty. Drop files here to upload them.</p>}
      {shown !== undefined && <FileView key={shown.path} agent={agent} entry={shown} onClose={() => setShown(undefined)} />}
      {removed !== undefined && (
        <Dialog
          title={`Delete ${removed.name}?`}
          action="Delete"
          isDangerous
          onClose={() => setRemoved(undefined)}
          onSubmit={async () => {
            await agent.remove(removed.path);
            if (shown?.path === removed.path) setShown(undefined);
            setRemoved(undefined);
            reload();
          }}
        >
          <p class="mono">{removed.path}</p>
        </Dialog>
      )}
      {isNaming && (
        <Dialog
          title="New folder"
          action="Create"
          onClose={() => setNaming(false)}
          onSubmit={async () => {
            await agent.makeDir(joined(folder, name));
            setNaming(false);
            setName('');
            reload();
          }}
        >
          <label for="folder">Name</label>
          <input id="folder" required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </Dialog>
      )}
    </div>
  );
}

function Crumbs({ path, onOpen }: { path: string; onOpen: (path: string) => void }) {
  const names = path.split('/').filter((name) => name !== '');
  return (
    <nav class="crumbs grow" aria-label="Directory">
      <button type="button" class="link" onClick={() => onOpen('/')}>
        /
      </button>
      {names.map((name, at) => (
        <span key={`${at} ${name}`}>
          <button type="button" class="link" onClick={() => onOpen(`/${names.slice(0, at + 1).join('/')}`)}>
            {name}
          </button>
          {at < names.length - 1 && '/'}
        </span>
      ))}
      {path !== '/' && (
        <button type="button" class="quiet" onClick={() => onOpen(parentOf(path))}>
          Up
        </button>
      )}
    </nav>
  );
}

function FileView({ agent, entry, onClose }: { agent: Agent; entry: FileEntry; onClose: () => void }) {
  const picture = PICTURES[entry.name.slice(entry.name.lastIndexOf('.') + 1).toLowerCase()];
  const isPicture = picture !== undefined && entry.size <= PICTURE_BYTES;
  const isLarge = !isPicture && entry.size > SHOWN_BYTES;
  const { value: content, failure } = useLoaded(
    async () => (isLarge ? undefined : (await agent.read(entry.path)).arrayBuffer()),
    entry.path,
  );
  return (
    <section class="viewer" aria-label={`Content of ${entry.name}`}>
      <div class="row">
        <h2 class="grow mono">{entry.name}</h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      {failure !== undefined && <p class="failure">{failure}</p>}
      {isLarge && <p class="note">The file has {bytes(entry.size)}. Download the file to read it.</p>}
      {content !== undefined && (isPicture ? <Picture content={content} type={picture} /> : <Text content={content} />)}
    </section>
  );
}

function Text({ content }: { content: ArrayBuffer }) {
  const text = new TextDecoder().decode(content);
  return text.includes('\0') ? <p class="note">The file is not a text.</p> : <pre>{text}</pre>;
}

function Picture({ content, type }: { content: ArrayBuffer; type: string }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([content], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [content, type]);
  return url === undefined ? null : <img class="picture" src={url} alt="" />;
}

// A link to a file would need a token in its URL. So the page reads the file with its token.
async function download(agent: Agent, { path, name }: FileEntry): Promise<void> {
  const url = URL.createObjectURL(await (await agent.read(path)).blob());
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
