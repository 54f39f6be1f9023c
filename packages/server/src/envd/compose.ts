// Joins files of a sandbox into one file, and removes the parts.

import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { NodeRuntime } from 'coldframe';
import { z } from 'zod';
import type { SandboxRecord } from '../registry/records.js';
import type { Sandbox } from '../sandboxes/sandbox.js';
import { AgentFailure } from './failure.js';
import { resolvePath } from './paths.js';
import { userOf } from './user.js';

const MOST_PARTS = 10_000;
const Body = z.object({
  source_paths: z.array(z.string().min(1)).min(1).max(MOST_PARTS),
  destination: z.string().min(1),
  username: z.string().optional(),
});

/** The body of the request. */
export type ComposeBody = z.input<typeof Body>;

/** Joins the files that `body` names. */
export async function compose({ runtime, fileMetadata }: Sandbox, record: SandboxRecord, body: unknown) {
  const parsed = Body.safeParse(body);
  if (!parsed.success) throw new AgentFailure(400, z.prettifyError(parsed.error));
  const { source_paths, destination, username = record.user } = parsed.data;
  const user = userOf(username);
  if (user === undefined) throw new AgentFailure(401, `invalid username: '${username}'`);
  const sources = source_paths.map((path) => resolvePath(path, user));
  const to = resolvePath(destination, user);
  if (new Set(sources).size < sources.length) throw new AgentFailure(400, 'a source path appears twice');
  for (const path of sources) {
    if ((await runtime.stat(path)).type !== 'file') throw new AgentFailure(400, `path is not a file: ${path}`);
  }
  // The destination can be a source, so the parts are joined beside it.
  const joined = `${to}.${Date.now().toString(36)}.part`;
  await runtime.mkdir(posix.dirname(to), { recursive: true, owner: user.name });
  try {
    await pipeline(Readable.from(bytesOf(runtime, sources)), runtime.createWriteStream(joined, { owner: user.name }));
    for (const path of sources) await runtime.remove(path);
    await runtime.rename(joined, to);
  } catch (error) {
    await runtime.remove(joined).catch(() => {});
    throw error;
  }
  for (const path of sources) fileMetadata.delete(path);
  fileMetadata.delete(to);
  return { name: posix.basename(to), path: to, type: 'file' };
}

async function* bytesOf(runtime: NodeRuntime, paths: readonly string[]): AsyncIterable<Uint8Array> {
  for (const path of paths) yield* runtime.createReadStream(path) as AsyncIterable<Uint8Array>;
}
