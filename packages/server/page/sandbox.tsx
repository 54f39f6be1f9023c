// One sandbox: its head with the actions, and the tabs.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Client, SandboxEntry } from '../src/client/index.js';
import { Dialog } from './dialog';
import { Files } from './files';
import { textOf, useLoaded } from './load';
import { Logs } from './logs';
import { Overview } from './overview';
import { hrefOf, TABS, type Tab } from './place';
import { Ports } from './ports';
import { Snapshots } from './snapshots';
import { TerminalView } from './terminal';

interface Props {
  client: Client;
  id: string;
  tab: Tab;
  entry: SandboxEntry | undefined;
  all: readonly SandboxEntry[];
  isMissing: boolean;
  onChange: () => void;
}

/** The time that a resumed sandbox gets, in seconds. */
const RESUMED_S = 3_600;

/** Shows one sandbox. */
export function SandboxView({ client, id, tab, entry, all, isMissing, onChange }: Props) {
  const [failure, setFailure] = useState<string>();
  const [isKilling, setKilling] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  // A change of the page moves the keyboard and screen readers to the sandbox.
  useEffect(() => heading.current?.focus(), []);
  const act = async (call: () => Promise<unknown>): Promise<void> => {
    setFailure(undefined);
    try {
      await call();
    } catch (error) {
      setFailure(textOf(error));
    }
    onChange();
  };
  if (isMissing) {
    return (
      <div class="empty">
        <h1>The sandbox has ended</h1>
        <p class="id">{id}</p>
        <a href={hrefOf(undefined)}>All sandboxes</a>
      </div>
    );
  }
  const state = entry?.state;
  return (
    <article class="sandbox">
      <div class="row head">
        <a class="back" href={hrefOf(undefined)} aria-label="All sandboxes">
          ←
        </a>
        <div class="grow title">
          <h1 tabIndex={-1} ref={heading}>
            {entry?.metadata['name'] ?? id}
          </h1>
          {state !== undefined && <span class={`state ${state}`}>{state}</span>}
        </div>
        <div class="row actions">
          {state === 'running' && (
            <>
              <button type="button" onClick={() => void act(() => client.pause(id))}>
                Pause
              </button>
              <button
                type="button"
                onClick={() =>
                  void act(async () => {
                    const [one] = await client.fork(id, 1);
                    if (one !== undefined && 'sandbox' in one) location.hash = hrefOf(one.sandbox.sandboxID);
                    else throw new Error(one?.error.message ?? 'The sandbox was not copied');
                  })
                }
              >
                Fork
              </button>
            </>
          )}
          {state === 'paused' && (
            <button type="button" class="primary" onClick={() => void act(() => client.connect(id, RESUMED_S))}>
              Resume
            </button>
          )}
          <button type="button" class="danger" onClick={() => setKilling(true)}>
            Kill
          </button>
        </div>
      </div>
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      <Tabs id={id} tab={tab} />
      <section class="panel" role="tabpanel" id="panel" aria-labelledby={`tab-${tab}`}>
        {entry !== undefined && <Panel client={client} id={id} tab={tab} entry={entry} all={all} onChange={onChange} />}
      </section>
      {isKilling && (
        <Dialog
          title="End the sandbox?"
          action="Kill"
          isDangerous
          onClose={() => setKilling(false)}
          onSubmit={async () => {
            await client.kill(id);
            setKilling(false);
            onChange();
            location.hash = hrefOf(undefined);
          }}
        >
          <p>
            The programs and the files of <span class="id">{id}</span> are lost. Snapshots stay.
          </p>
        </Dialog>
      )}
    </article>
  );
}

function Tabs({ id, tab }: { id: string; tab: Tab }) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector(`#tab-${tab}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [tab]);
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length] as Tab;
    location.hash = hrefOf(id, next);
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Parts of the sandbox" ref={list} onKeyDown={move}>
      {TABS.map((one) => (
        <a
          key={one}
          id={`tab-${one}`}
          role="tab"
          href={hrefOf(id, one)}
          aria-selected={one === tab}
          aria-controls="panel"
          tabIndex={one === tab ? 0 : -1}
        >
          {one}
        </a>
      ))}
    </div>
  );
}

interface PanelProps {
  client: Client;
  id: string;
  tab: Tab;
  entry: SandboxEntry;
  all: readonly SandboxEntry[];
  onChange: () => void;
}

function Panel({ client, id, tab, entry, all, onChange }: PanelProps) {
  // The token is the same for the whole life of a sandbox.
  const { value: access, failure } = useLoaded(() => client.get(id), `access ${id}`);
  if (tab === 'snapshots') return <Snapshots client={client} entry={entry} all={all} onChange={onChange} />;
  if (tab === 'logs') return <Logs client={client} id={id} />;
  if (failure !== undefined) return <p class="failure">{failure}</p>;
  if (access === undefined) return <p class="note">Loading</p>;
  const isRunning = entry.state === 'running';
  const agent = client.agent(access);
  if (tab === 'overview') return <Overview client={client} agent={isRunning ? agent : undefined} entry={entry} />;
  if (!isRunning) return <p class="note">The sandbox is paused. Resume the sandbox to see its {tab}.</p>;
  if (tab === 'files') return <Files agent={agent} />;
  if (tab === 'terminal') return <TerminalView client={client} id={id} />;
  return <Ports id={id} />;
}
