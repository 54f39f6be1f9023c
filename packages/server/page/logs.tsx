// The log of a sandbox.

import { useEffect, useRef } from 'preact/hooks';
import type { Client } from '../src/client/index.js';
import { useLoaded } from './load';

const LOGS_MS = 2_000;
/** A list that is scrolled this near to its end follows new lines. */
const END_PIXELS = 40;

/** Shows the newest lines, and follows them while the end is visible. */
export function Logs({ client, id }: { client: Client; id: string }) {
  const { value: lines, failure } = useLoaded(() => client.logs(id), id, LOGS_MS);
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [lines]);
  if (failure !== undefined && lines === undefined) return <p class="failure">{failure}</p>;
  if (lines?.length === 0) return <p class="note">The log is empty.</p>;
  return (
    <ol
      class="logs"
      ref={list}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls the list
      tabIndex={0}
      aria-label="Log"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < END_PIXELS;
      }}
    >
      {(lines ?? []).map(({ timestamp, level, message }, at) => (
        <li key={`${at} ${timestamp}`} class={level}>
          <time dateTime={timestamp}>{new Date(timestamp).toLocaleTimeString()}</time> {message}
        </li>
      ))}
    </ol>
  );
}
