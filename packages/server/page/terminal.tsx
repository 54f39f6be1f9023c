// A terminal of a sandbox in the page. `src/terminal` is the other end of the connection.

import { FitAddon } from '@xterm/addon-fit';
import { Terminal as Screen } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Client, type Socket, TERMINAL_PROTOCOL, Terminal, terminalUrl } from '../src/client/index.js';

const DARK = { background: '#0b1215', foreground: '#e3ecee', cursor: '#5eead4', selectionBackground: '#2b4a50' };
const LIGHT = { background: '#ffffff', foreground: '#16242a', cursor: '#0f766e', selectionBackground: '#bfe3de' };

/** Opens a terminal while the component is mounted. The end of the component ends the program. */
export function TerminalView({ client, id }: { client: Client; id: string }) {
  const host = useRef<HTMLDivElement>(null);
  const [round, setRound] = useState(0);
  const [end, setEnd] = useState<string>();

  useEffect(() => {
    const element = host.current as HTMLDivElement;
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const screen = new Screen({
      cursorBlink: true,
      fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
      fontSize: 13,
      screenReaderMode: true,
      theme: dark.matches ? DARK : LIGHT,
    });
    const fit = new FitAddon();
    screen.loadAddon(fit);
    screen.open(element);
    fit.fit();
    const socket = new WebSocket(terminalUrl(client.place, id), TERMINAL_PROTOCOL);
    const { cols, rows } = screen;
    const terminal = new Terminal(
      socket as unknown as Socket,
      client.place.apiKey,
      { cols, rows },
      {
        onOutput: (bytes) => screen.write(bytes),
        onEnd: ({ exitCode, message }) =>
          setEnd(
            exitCode === undefined ? (message ?? 'The connection ended.') : `The program ended with the exit code ${exitCode}.`,
          ),
      },
    );
    const encoder = new TextEncoder();
    screen.onData((text) => terminal.write(encoder.encode(text)));
    screen.onBinary((text) => terminal.write(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
    screen.onResize((size) => terminal.resize(size));
    // Tab belongs to the program, so another key must leave the terminal.
    screen.attachCustomKeyEventHandler((event) => {
      if (event.type !== 'keydown' || event.key !== 'Escape' || !event.shiftKey) return true;
      document.getElementById('tab-terminal')?.focus();
      return false;
    });
    screen.focus();
    const observer = new ResizeObserver(() => fit.fit());
    observer.observe(element);
    const paint = (): void => {
      screen.options.theme = dark.matches ? DARK : LIGHT;
    };
    dark.addEventListener('change', paint);
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', paint);
      terminal.close();
      screen.dispose();
    };
  }, [client, id, round]);

  const again = (): void => {
    setEnd(undefined);
    setRound((before) => before + 1);
  };
  return (
    <div class="terminal">
      <div class="screen" ref={host} />
      {end === undefined ? (
        <p class="note">
          <kbd>Shift</kbd>+<kbd>Escape</kbd> leaves the terminal.
        </p>
      ) : (
        <p class="row note" role="status">
          {end}
          <button type="button" onClick={again}>
            Open again
          </button>
        </p>
      )}
    </div>
  );
}
