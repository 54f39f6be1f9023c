// Values that the page reads from the server again and again.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** A value of the server. */
export interface Loaded<T> {
  value: T | undefined;
  /** The failure of the last call. An earlier value stays. */
  failure: string | undefined;
  /** Reads the value now. */
  reload(): void;
}

/** Returns the text of an error. */
export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Calls `load` now, when `key` changes, and `everyMs` after each result. A hidden page does not
 * call. Without `everyMs` the call is made once for each key.
 */
export function useLoaded<T>(load: () => Promise<T>, key: string, everyMs?: number): Loaded<T> {
  const [state, setState] = useState<{ key: string; value?: T; failure?: string }>({ key });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const call = async (): Promise<void> => {
      try {
        const value = await latest.current();
        if (!isOver) setState({ key, value });
      } catch (error) {
        if (!isOver) setState((before) => ({ ...(before.key === key ? before : {}), key, failure: textOf(error) }));
      }
      if (!isOver && everyMs !== undefined) timer = setTimeout(next, everyMs);
    };
    const next = (): void => {
      if (document.hidden && everyMs !== undefined) timer = setTimeout(next, everyMs);
      else void call();
    };
    void call();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [key, everyMs, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const isPresent = state.key === key;
  return { value: isPresent ? state.value : undefined, failure: isPresent ? state.failure : undefined, reload };
}
