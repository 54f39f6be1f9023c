// The form of the cases, and helpers that several lists of cases use.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeRuntime, type NodeRuntimeCreateOptions } from '../../../src/secure-exec/index.js';

/** One documented behaviour of secure-exec. */
export interface Case {
  /** The behaviour as secure-exec documents it. */
  readonly name: string;
  /**
   * The behaviour here, if it differs. The check then tests this behaviour. The migration page has
   * the reason.
   */
  readonly differs?: string;
  readonly check: () => Promise<void>;
}

/** Runs `work` with a runtime, and disposes the runtime. */
export async function withRuntime<T>(options: NodeRuntimeCreateOptions, work: (runtime: NodeRuntime) => Promise<T>): Promise<T> {
  const runtime = await NodeRuntime.create(options);
  try {
    return await work(runtime);
  } finally {
    await runtime.dispose();
  }
}

/** Runs `work` with a folder of the host machine, and removes the folder. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'coldframe-secure-exec-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A program that serves HTTP at port 3000 until it is killed. */
export const SERVER = `
  import { createServer } from 'node:http';
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => { body += chunk; });
    request.on('end', () => {
      response.writeHead(request.url === '/missing' ? 404 : 200, { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] });
      response.end([request.method, request.url, request.headers['x-from'], body].join(' '));
    });
  });
  server.listen(3000, '127.0.0.1', () => console.log('listening'));
`;
