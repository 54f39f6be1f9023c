// A client of the agent of one sandbox: programs and files, over Connect with JSON and over plain
// HTTP. Next: `envelopes.ts`.

import { envelopeOf, messagesOf } from './envelopes.js';
import { failureOf } from './failure.js';
import { send } from './send.js';
import type { FileEntry, ProgramEnd, ProgramEntry } from './shapes.js';

/** The port of the agent of every sandbox. */
const AGENT_PORT = '49983';

/** The command to start. */
export interface Command {
  cmd: string;
  args?: readonly string[];
  cwd?: string;
  envs?: Record<string, string>;
  /** Whether `sendStdin()` may follow. */
  stdin?: boolean;
  /** `user` or `root`. @default `user` */
  user?: string;
  signal?: AbortSignal;
}

/** The output of a program, or its end. */
export type ProgramEvent =
  | { type: 'start'; pid: number }
  | { type: 'stdout' | 'stderr'; bytes: Uint8Array<ArrayBuffer> }
  | ({ type: 'end' } & ProgramEnd);

interface WireEvent {
  event?: {
    start?: { pid: number };
    data?: { stdout?: string; stderr?: string };
    end?: { exitCode?: number; exited?: boolean; status?: string };
  };
}

interface WireEntry extends Omit<FileEntry, 'type' | 'size'> {
  type: string;
  size?: string;
}

const TYPES: Readonly<Record<string, FileEntry['type']>> = {
  FILE_TYPE_DIRECTORY: 'directory',
  FILE_TYPE_SYMLINK: 'symlink',
};

/** The programs and files of one sandbox. */
export class Agent {
  readonly #url: string;
  readonly #id: string;
  readonly #token: string;

  constructor(url: string, { id, token }: { id: string; token: string }) {
    this.#url = url;
    this.#id = id;
    this.#token = token;
  }

  /** Starts a program, and yields its events until its end. */
  async *start({ cmd, args = [], cwd, envs = {}, stdin = false, user, signal }: Command): AsyncGenerator<ProgramEvent> {
    const process = { cmd, args, envs, ...(cwd === undefined ? {} : { cwd }) };
    yield* this.#events('Start', { process, stdin }, user, signal);
  }

  /** Yields the events of a program that was started before. */
  connect(pid: number, signal?: AbortSignal): AsyncGenerator<ProgramEvent> {
    return this.#events('Connect', { process: { pid } }, undefined, signal);
  }

  /** Returns the running programs. */
  async programs(): Promise<ProgramEntry[]> {
    const { processes = [] } = await this.#call<{
      processes?: { pid: number; tag?: string; config: { cmd: string; args?: string[] } }[];
    }>('process.Process/List', {});
    return processes.map(({ pid, tag, config: { cmd, args = [] } }) => ({
      pid,
      cmd,
      args,
      ...(tag === undefined ? {} : { tag }),
    }));
  }

  async sendStdin(pid: number, bytes: Uint8Array): Promise<void> {
    await this.#call('process.Process/SendInput', { process: { pid }, input: { stdin: base64Of(bytes) } });
  }

  async closeStdin(pid: number): Promise<void> {
    await this.#call('process.Process/CloseStdin', { process: { pid } });
  }

  async signal(pid: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#call('process.Process/SendSignal', { process: { pid }, signal: `SIGNAL_${signal}` });
  }

  /** Lists a directory. */
  async listDir(path: string): Promise<FileEntry[]> {
    const { entries = [] } = await this.#call<{ entries?: WireEntry[] }>('filesystem.Filesystem/ListDir', { path, depth: 1 });
    return entries.map(entryOf);
  }

  /** Describes a file or a directory. */
  async stat(path: string): Promise<FileEntry> {
    return entryOf((await this.#call<{ entry: WireEntry }>('filesystem.Filesystem/Stat', { path })).entry);
  }

  async makeDir(path: string): Promise<void> {
    await this.#call('filesystem.Filesystem/MakeDir', { path });
  }

  async move(source: string, destination: string): Promise<void> {
    await this.#call('filesystem.Filesystem/Move', { source, destination });
  }

  /** Removes a file, or a directory with its content. */
  async remove(path: string): Promise<void> {
    await this.#call('filesystem.Filesystem/Remove', { path });
  }

  /** Opens the bytes of a file. */
  async read(path: string): Promise<Response> {
    const response = await send(`${this.#url}/files?path=${encodeURIComponent(path)}`, { headers: this.#headers() });
    if (!response.ok) throw await failureOf(response);
    return response;
  }

  /** Writes a file, and makes missing directories. */
  async write(path: string, body: Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>): Promise<void> {
    const isStream = body instanceof ReadableStream;
    const response = await send(`${this.#url}/files?path=${encodeURIComponent(path)}`, {
      method: 'POST',
      headers: { ...this.#headers(), 'content-type': 'application/octet-stream' },
      body,
      ...(isStream ? { duplex: 'half' } : {}),
    } as RequestInit);
    if (!response.ok) throw await failureOf(response);
    await response.arrayBuffer();
  }

  async *#events(method: string, message: unknown, user?: string, signal?: AbortSignal): AsyncGenerator<ProgramEvent> {
    const headers = { ...this.#headers(user), 'content-type': 'application/connect+json' };
    const options = { method: 'POST', headers, body: envelopeOf(message), ...(signal === undefined ? {} : { signal }) };
    const response = await send(`${this.#url}/process.Process/${method}`, options);
    if (!response.ok || response.body === null) throw await failureOf(response);
    for await (const { event } of messagesOf<WireEvent>(response.body)) {
      const { start, data, end } = event ?? {};
      if (start !== undefined) yield { type: 'start', pid: start.pid };
      if (data?.stdout !== undefined) yield { type: 'stdout', bytes: bytesOf(data.stdout) };
      if (data?.stderr !== undefined) yield { type: 'stderr', bytes: bytesOf(data.stderr) };
      if (end === undefined) continue;
      yield { type: 'end', exitCode: end.exitCode ?? 0, exited: end.exited ?? false, status: end.status ?? '' };
    }
  }

  async #call<T>(method: string, message: unknown): Promise<T> {
    const headers = { ...this.#headers(), 'content-type': 'application/json' };
    const response = await send(`${this.#url}/${method}`, { method: 'POST', headers, body: JSON.stringify(message) });
    if (!response.ok) throw await failureOf(response);
    return (await response.json()) as T;
  }

  #headers(user?: string): Record<string, string> {
    return {
      'e2b-sandbox-id': this.#id,
      'e2b-sandbox-port': AGENT_PORT,
      'x-access-token': this.#token,
      'connect-protocol-version': '1',
      ...(user === undefined ? {} : { authorization: `Basic ${btoa(`${user}:`)}` }),
    };
  }
}

function entryOf({ type, size = '0', ...entry }: WireEntry): FileEntry {
  return { ...entry, type: TYPES[type] ?? 'file', size: Number(size) };
}

/** The bytes that one call of `String.fromCharCode` receives. */
const PIECE = 8_192;

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
