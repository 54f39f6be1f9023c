// The server under test: a process of its own, and requests to the process.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { readProcessMemory } from '../machine/footprint.js';

/** The key of the server. */
export const KEY = 'bench';

const AGENT_PORT = '49983';
const HEAD_BYTES = 5;
const END = 0x02;

/** A response with its whole body. */
export interface Answer {
  status: number;
  text: string;
}

/** A sandbox of the server. */
export interface Remote {
  id: string;
  token: string;
}

/** The server under test. */
export class Place {
  readonly #child: ChildProcess;
  readonly #port: number;
  readonly #floorPort: number;
  readonly #agent = new Agent({ keepAlive: true, noDelay: true, maxSockets: 256 });

  private constructor(child: ChildProcess, ports: { port: number; floorPort: number }) {
    this.#child = child;
    this.#port = ports.port;
    this.#floorPort = ports.floorPort;
  }

  /** Starts the server with its data in `directory`. */
  static async start(directory: string): Promise<Place> {
    const child = fork(fileURLToPath(new URL('./host.js', import.meta.url)), [directory], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const [ports] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error('the server has ended'))),
    ])) as [{ port: number; floorPort: number }];
    return new Place(child, ports);
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
  }

  /** Sends a request to a route. @throws for a status that is not of the class 2xx */
  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const answer = await this.#send(this.#port, method, path, headers, body === undefined ? undefined : JSON.stringify(body));
    if (answer.status < 200 || answer.status > 299) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** Sends a request to the plain server. */
  async floor(): Promise<void> {
    const { text } = await this.#send(this.#floorPort, 'POST', '/echo', { 'content-type': 'application/json' }, '{"a":1}');
    if (text !== '{"a":1}') throw new Error(`the plain server answered ${text}`);
  }

  /** Sends a request to a port of a sandbox. */
  async port({ id, token }: Remote, port: string, path: string, body?: string, type = 'application/json'): Promise<Answer> {
    const headers = {
      'e2b-sandbox-id': id,
      'e2b-sandbox-port': port,
      'x-access-token': token,
      'connect-protocol-version': '1',
      ...(body === undefined ? {} : { 'content-type': type }),
    };
    const answer = await this.#send(this.#port, body === undefined ? 'GET' : 'POST', path, headers, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** Creates a sandbox from a template or a snapshot. */
  async create(templateID = 'base'): Promise<Remote> {
    const { text } = await this.call('POST', '/v2/sandboxes', { templateID, timeout: 3_600 });
    const { sandboxID: id, envdAccessToken: token } = JSON.parse(text) as { sandboxID: string; envdAccessToken: string };
    return { id, token };
  }

  /** Takes a snapshot of a sandbox, from which `create()` makes copies. */
  async snapshot({ id }: Remote): Promise<string> {
    const { text } = await this.call('POST', `/sandboxes/${id}/snapshots`, {});
    return (JSON.parse(text) as { snapshotID: string }).snapshotID;
  }

  async kill({ id }: Remote): Promise<void> {
    await this.call('DELETE', `/sandboxes/${id}`);
  }

  /**
   * Runs a command as the clients of E2B do, and returns its stdout. @throws unless the exit code
   * is 0
   */
  async run(remote: Remote, command: string): Promise<string> {
    const process = { cmd: '/bin/bash', args: ['-l', '-c', command] };
    const type = 'application/connect+json';
    const { text } = await this.port(remote, AGENT_PORT, '/process.Process/Start', enveloped({ process, stdin: false }), type);
    return outputOf(Buffer.from(text, 'latin1'));
  }

  /** Returns the private memory of the server and of its sidecar, in KiB. */
  memoryKib(): number {
    return treeOf(this.#child.pid as number).reduce((sum, pid) => {
      const { privateDirtyKib, pageTablesKib } = readProcessMemory(pid);
      return sum + privateDirtyKib + pageTablesKib;
    }, 0);
  }

  #send(port: number, method: string, path: string, headers: Record<string, string>, body?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const bytes = body === undefined ? undefined : Buffer.from(body, 'latin1');
      const length = bytes === undefined ? {} : { 'content-length': bytes.length };
      const sent = request({ host: '127.0.0.1', port, method, path, headers: { ...headers, ...length }, agent: this.#agent });
      sent.once('error', reject);
      sent.once('response', (response) => {
        let text = '';
        response.setEncoding('latin1');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('error', reject);
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.end(bytes);
    });
  }
}

/** Returns a message of a stream as the text of its bytes. */
function enveloped(message: unknown): string {
  const body = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]).toString('latin1');
}

interface WireMessage {
  event?: { data?: { stdout?: string }; end?: { exitCode?: number; status?: string } };
  error?: { message: string };
}

function outputOf(bytes: Buffer): string {
  let stdout = '';
  let end: { exitCode?: number; status?: string } | undefined;
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1);
    const message = JSON.parse(bytes.toString('utf8', at + HEAD_BYTES, at + HEAD_BYTES + length)) as WireMessage;
    if (bytes[at] === END && message.error !== undefined) throw new Error(message.error.message);
    if (message.event?.data?.stdout !== undefined) stdout += Buffer.from(message.event.data.stdout, 'base64').toString('utf8');
    end = message.event?.end ?? end;
    at += HEAD_BYTES + length;
  }
  if (end === undefined) throw new Error('the stream has no end');
  if ((end.exitCode ?? 0) !== 0) throw new Error(`the command ended with ${end.status}`);
  return stdout;
}

// Returns a process and its children.
function treeOf(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(treeOf)];
}
