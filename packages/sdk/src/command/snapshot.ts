// `coldframe snapshot ls|rm|export|import`: the snapshots on disk. The command opens a sidecar,
// because only the sidecar reads and writes the store.

import type { SnapshotStore } from '../index.js';
import { textOf, wrongOperands } from './parse.js';
import { loadSdk } from './program.js';
import { checkFlags, withoutAbsent } from './runtime-options.js';
import { paintFor } from './styles.js';
import type { Arguments } from './subcommand.js';

type Tenant = { tenant?: string };
type Action = (store: SnapshotStore, operands: readonly string[], tenant: Tenant, json: boolean) => Promise<void>;

/** The actions with their numbers of operands. */
const ACTIONS: Readonly<Record<string, { least: number; most: number; run: Action }>> = {
  ls: { least: 0, most: 0, run: list },
  rm: { least: 1, most: Number.POSITIVE_INFINITY, run: remove },
  export: { least: 2, most: 2, run: exportOne },
  import: { least: 1, most: 1, run: importOne },
};

export async function execute(args: Arguments): Promise<number> {
  const [name = '', ...operands] = args.operands;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined || operands.length < action.least || operands.length > action.most) wrongOperands(args);
  const tenant = withoutAbsent({ tenant: textOf(args, 'tenant') }) as Tenant;
  checkFlags(args.subcommand, 'snapshots.list()', tenant);
  const directory = textOf(args, 'store');
  const options = { workers: 1, warmSlots: 0, ...(directory !== undefined && { snapshots: { directory } }) };
  checkFlags(args.subcommand, 'Sidecar.spawn()', options);
  const { Sidecar } = await loadSdk();
  const sidecar = await Sidecar.spawn(options);
  try {
    await action.run(sidecar.snapshots, operands, tenant, args.flags.has('json'));
    return 0;
  } finally {
    await sidecar.dispose();
  }
}

async function list(store: SnapshotStore, _operands: readonly string[], tenant: Tenant, json: boolean): Promise<void> {
  const snapshots = await store.list(tenant);
  const { damaged } = snapshots;
  if (json) {
    console.log(JSON.stringify({ snapshots: [...snapshots], damaged }, null, 2));
    return;
  }
  const paint = paintFor(process.stdout);
  const rows = snapshots.map(({ id, name = '', size, programs, createdAt }) => [
    id,
    name,
    bytes(size),
    String(programs),
    createdAt.toISOString(),
  ]);
  const header = ['ID', 'NAME', 'SIZE', 'PROGRAMS', 'CREATED'];
  const widths = header.map((title, at) => Math.max(title.length, ...rows.map((row) => (row[at] as string).length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] as number))
      .join('  ')
      .trimEnd();
  console.log(paint('bold', line(header)));
  for (const row of rows) console.log(line(row));
  for (const { path, reason } of damaged) console.error(`${paintFor(process.stderr)('yellow', 'damaged:')} ${path}: ${reason}`);
}

async function remove(store: SnapshotStore, ids: readonly string[], tenant: Tenant, json: boolean): Promise<void> {
  for (const id of ids) await store.delete(id, tenant);
  if (json) console.log(JSON.stringify({ deleted: ids }, null, 2));
}

async function exportOne(store: SnapshotStore, [id, path]: readonly string[], tenant: Tenant, json: boolean): Promise<void> {
  await store.export(id as string, path as string, tenant);
  if (json) console.log(JSON.stringify({ exported: id, path }, null, 2));
}

async function importOne(store: SnapshotStore, [path]: readonly string[], tenant: Tenant, json: boolean): Promise<void> {
  const snapshot = await store.import(path as string, tenant);
  console.log(json ? JSON.stringify({ imported: snapshot }, null, 2) : snapshot.id);
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

function bytes(size: number): string {
  const power = Math.min(UNITS.length - 1, size < 1_024 ? 0 : Math.floor(Math.log2(size) / 10));
  return `${(size / 1_024 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}
