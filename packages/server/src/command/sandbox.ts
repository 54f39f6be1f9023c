// `coldframe sandbox ACTION`: sandboxes of a server. Next: `exec.ts`, `shell.ts`, `copy.ts`.

import type { SandboxAccess } from '../client/index.js';
import { ServerError } from '../client/index.js';
import { clientOf } from './account.js';
import { type Action, type CommandCall, CommandError, has, operandsOf, pairsOf, textOf, wholeOf } from './call.js';
import { copy } from './copy.js';
import { exec } from './exec.js';
import { shell } from './shell.js';
import { distance, plain, table } from './text.js';

/** The longest life of a sandbox in seconds. */
const LONGEST_S = 30 * 24 * 3_600;
const FOLLOW_MS = 1_000;

const print = (call: CommandCall, json: unknown, text: string): number => {
  console.log(has(call, 'json') ? JSON.stringify(json, null, 2) : text);
  return 0;
};

const create: Action = async (call) => {
  operandsOf(call);
  const template = textOf(call, 'template');
  const timeout = wholeOf(call, 'timeout', 1, LONGEST_S);
  const created = await (await clientOf(call)).create({
    ...(template === undefined ? {} : { templateID: template }),
    ...(timeout === undefined ? {} : { timeout }),
    autoPause: has(call, 'auto-pause'),
    metadata: pairsOf(call, 'metadata'),
    envVars: pairsOf(call, 'env'),
  });
  const { sandboxID, templateID } = created;
  return print(call, { sandboxID, templateID }, sandboxID);
};

const list: Action = async (call) => {
  operandsOf(call);
  const sandboxes = await (await clientOf(call)).list();
  const rows = sandboxes.map(({ sandboxID, templateID, alias, state, startedAt, endAt, metadata }) => [
    sandboxID,
    alias ?? templateID,
    state,
    distance(startedAt).replace('-', ''),
    state === 'running' ? distance(endAt) : '',
    Object.entries(metadata)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
  ]);
  return print(call, sandboxes, table(['ID', 'TEMPLATE', 'STATE', 'AGE', 'ENDS IN', 'METADATA'], rows));
};

const kill: Action = async (call) => {
  const [, ...ids] = call.operands;
  if (ids.length === 0) throw new CommandError('coldframe sandbox kill: expected ID...');
  const client = await clientOf(call);
  for (const id of ids) {
    await client.kill(id);
    console.log(id);
  }
  return 0;
};

const pause: Action = async (call) => {
  const [id = ''] = operandsOf(call, 'ID');
  await (await clientOf(call)).pause(id);
  return print(call, { sandboxID: id, state: 'paused' }, id);
};

const resume: Action = async (call) => {
  const [id = ''] = operandsOf(call, 'ID');
  await (await clientOf(call)).connect(id, wholeOf(call, 'timeout', 1, LONGEST_S) ?? 300);
  return print(call, { sandboxID: id, state: 'running' }, id);
};

const snapshot: Action = async (call) => {
  const [id = ''] = operandsOf(call, 'ID');
  const taken = await (await clientOf(call)).snapshot(id, textOf(call, 'name'));
  return print(call, taken, taken.snapshotID);
};

const snapshots: Action = async (call) => {
  const [, id] = call.operands;
  const all = await (await clientOf(call)).snapshots(id);
  const rows = all.map(({ snapshotID, names }) => [snapshotID, names.join(' ')]);
  return print(call, all, table(['ID', 'NAMES'], rows));
};

const fork: Action = async (call) => {
  const [id = ''] = operandsOf(call, 'ID');
  const forks = await (await clientOf(call)).fork(id, wholeOf(call, 'count', 1, 100) ?? 1);
  const made = forks.flatMap((one): SandboxAccess[] => ('sandbox' in one ? [one.sandbox] : []));
  const ids = made.map(({ sandboxID }) => sandboxID);
  for (const one of forks) if ('error' in one) console.error(`not copied: ${plain(one.error.message)}`);
  if (ids.length === 0) return 1;
  print(call, ids, ids.join('\n'));
  return ids.length === forks.length ? 0 : 1;
};

const rollback: Action = async (call) => {
  const [id = '', snapshotID = ''] = operandsOf(call, 'ID', 'SNAPSHOT');
  await (await clientOf(call)).rollback(id, snapshotID);
  return print(call, { sandboxID: id, snapshotID }, id);
};

const logs: Action = async (call) => {
  const [id = ''] = operandsOf(call, 'ID');
  const client = await clientOf(call);
  let seen = 0;
  for (;;) {
    const entries = await client.logs(id).catch((error: unknown) => {
      // The end of the sandbox ends `--follow`.
      if (seen > 0 && error instanceof ServerError && error.status === 404) return undefined;
      throw error;
    });
    if (entries === undefined) return 0;
    for (const entry of entries.slice(Math.min(seen, entries.length))) {
      const { timestamp, level, message } = entry;
      console.log(has(call, 'json') ? JSON.stringify(entry) : `${timestamp} ${plain(level)} ${plain(message)}`);
    }
    seen = entries.length;
    if (!has(call, 'follow')) return 0;
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS));
  }
};

/** The actions by name. */
export const SANDBOX_ACTIONS: Readonly<Record<string, Action>> = {
  create,
  ls: list,
  list,
  exec,
  sh: shell,
  logs,
  cp: copy,
  kill,
  pause,
  resume,
  snapshot,
  snapshots,
  fork,
  rollback,
};
