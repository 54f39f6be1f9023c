// A client of the server's REST routes. The command and the page use the client, so the module uses
// only what Node and browsers both have. Next: `agent.ts`, the programs and files of one sandbox.

import { Agent } from './agent.js';
import { failureOf } from './failure.js';
import { send } from './send.js';
import type { LogEntry, Metric, SandboxAccess, SandboxEntry, SnapshotEntry, TemplateEntry } from './shapes.js';

/** The place of a server and the key. */
export interface Place {
  /** The URL of the server, such as `http://127.0.0.1:3000`. */
  url: string;
  apiKey: string;
}

/** The wish for a new sandbox. */
export interface NewSandbox {
  templateID?: string;
  /** Seconds until the end of the sandbox. */
  timeout?: number;
  autoPause?: boolean;
  metadata?: Record<string, string>;
  envVars?: Record<string, string>;
}

type Query = Record<string, string | number | undefined>;

/** The most pages that a call reads. A list has at most 100 entries in a page. */
const MOST_PAGES = 100;

/** Calls the routes of one server with one key. */
export class Client {
  readonly place: Place;

  constructor({ url, apiKey }: Place) {
    this.place = { url: url.replace(/\/+$/, ''), apiKey };
  }

  /** Sends a request with the key. @throws {ServerError} for every status but 2xx */
  async request(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { 'x-api-key': this.place.apiKey };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const response = await send(this.place.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!response.ok) throw await failureOf(response);
    return response;
  }

  /** Creates a sandbox. */
  async create(wish: NewSandbox = {}): Promise<SandboxAccess> {
    return this.#json('POST', '/v2/sandboxes', { ...wish, templateID: wish.templateID ?? 'base' });
  }

  /** Returns all sandboxes, the newest first. */
  list(): Promise<SandboxEntry[]> {
    return this.#pages('/v2/sandboxes', {});
  }

  /** Returns the description of a sandbox with its access token. */
  get(id: string): Promise<SandboxEntry & SandboxAccess> {
    return this.#json('GET', `/sandboxes/${encodeURIComponent(id)}`);
  }

  /** Resumes a paused sandbox, and moves its end to `timeout` seconds from now at the earliest. */
  connect(id: string, timeout: number): Promise<SandboxAccess> {
    return this.#json('POST', `/v2/sandboxes/${encodeURIComponent(id)}/connect`, { timeout });
  }

  async kill(id: string): Promise<void> {
    await this.request('DELETE', `/sandboxes/${encodeURIComponent(id)}`);
  }

  async pause(id: string): Promise<void> {
    await this.request('POST', `/sandboxes/${encodeURIComponent(id)}/pause`, {});
  }

  /** Moves the end of a sandbox to `timeout` seconds from now. */
  async setTimeout(id: string, timeout: number): Promise<void> {
    await this.request('POST', `/sandboxes/${encodeURIComponent(id)}/timeout`, { timeout });
  }

  /** Takes a snapshot of a running sandbox. */
  snapshot(id: string, name?: string): Promise<SnapshotEntry> {
    return this.#json('POST', `/sandboxes/${encodeURIComponent(id)}/snapshots`, name === undefined ? {} : { name });
  }

  /** Makes copies of a running sandbox. */
  fork(id: string, count: number): Promise<({ sandbox: SandboxAccess } | { error: { message: string } })[]> {
    return this.#json('POST', `/sandboxes/${encodeURIComponent(id)}/fork`, { count });
  }

  /** Returns a sandbox to the state of a snapshot. */
  async rollback(id: string, snapshotID: string): Promise<void> {
    await this.request('POST', `/sandboxes/${encodeURIComponent(id)}/rollback`, { snapshotID });
  }

  /** Returns the snapshots of one sandbox, or all snapshots. */
  snapshots(sandboxID?: string): Promise<SnapshotEntry[]> {
    return this.#pages('/snapshots', { sandboxID });
  }

  /** Deletes a template or a snapshot. */
  async deleteTemplate(id: string): Promise<void> {
    await this.request('DELETE', `/templates/${encodeURIComponent(id)}`);
  }

  /** Returns the templates. */
  templates(): Promise<TemplateEntry[]> {
    return this.#json('GET', '/templates');
  }

  /** Returns the use of resources of a sandbox, the oldest first. */
  metrics(id: string): Promise<Metric[]> {
    return this.#json('GET', `/sandboxes/${encodeURIComponent(id)}/metrics`);
  }

  /** Returns the newest lines of a sandbox's log. */
  async logs(id: string): Promise<LogEntry[]> {
    const body = await this.#json<{ logEntries?: LogEntry[]; logs?: LogEntry[] }>(
      'GET',
      `/sandboxes/${encodeURIComponent(id)}/logs`,
    );
    return body.logEntries ?? body.logs ?? [];
  }

  /** Returns the programs and files of a running sandbox. */
  agent({ sandboxID: id, envdAccessToken: token }: Pick<SandboxAccess, 'sandboxID' | 'envdAccessToken'>): Agent {
    return new Agent(this.place.url, { id, token });
  }

  async #json<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await (await this.request(method, path, body)).json()) as T;
  }

  async #pages<T>(path: string, query: Query): Promise<T[]> {
    const all: T[] = [];
    let nextToken: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const given = Object.entries({ ...query, nextToken }).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, String(value)]],
      );
      const text = new URLSearchParams(given).toString();
      const response = await this.request('GET', text === '' ? path : `${path}?${text}`);
      all.push(...((await response.json()) as T[]));
      nextToken = response.headers.get('x-next-token') || undefined;
      if (nextToken === undefined) break;
    }
    return all;
  }
}
