// `coldframe template ACTION`: templates of a server. Next: `dockerfile.ts`, `build.ts`.

import { clientOf } from './account.js';
import { build } from './build.js';
import { type Action, CommandError, has, operandsOf } from './call.js';
import { table } from './text.js';

const list: Action = async (call) => {
  operandsOf(call);
  const templates = await (await clientOf(call)).templates();
  const rows = templates.map(({ templateID, names, aliases, buildStatus = '' }) => [
    templateID,
    (names ?? aliases ?? []).join(' '),
    buildStatus,
  ]);
  console.log(has(call, 'json') ? JSON.stringify(templates, null, 2) : table(['ID', 'NAMES', 'STATUS'], rows));
  return 0;
};

const remove: Action = async (call) => {
  const [, ...ids] = call.operands;
  if (ids.length === 0) throw new CommandError('coldframe template delete: expected ID...');
  const client = await clientOf(call);
  for (const id of ids) {
    await client.deleteTemplate(id);
    console.log(id);
  }
  return 0;
};

/** The actions by name. */
export const TEMPLATE_ACTIONS: Readonly<Record<string, Action>> = { list, ls: list, build, delete: remove, rm: remove };
