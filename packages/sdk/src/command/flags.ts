// The options of the command's subcommands as rows: name, value, sentence. The rows have no checks.
// `runtime-options.ts` passes the values to the SDK's own option tables, which contain the rules.
// Next: `subcommands.ts`, the subcommands with their options.

/** An option of a subcommand. */
export interface Flag {
  /** The name after `--`. */
  readonly name: string;
  /** The letter after `-`. */
  readonly short?: string;
  /** The placeholder of the value in the help. Without a placeholder the option has no value. */
  readonly value?: string;
  /** Whether the option may appear more than once. */
  readonly repeats?: true;
  /** Whether the value can be omitted. A value is then written as `--name=VALUE`. */
  readonly optionalValue?: true;
  /** One sentence for the help. */
  readonly help: string;
}

export const HELP: Flag = { name: 'help', short: 'h', help: 'print this help' };
export const JSON_OUTPUT: Flag = { name: 'json', help: 'print one JSON document on stdout instead of text' };

const SCOPE_HELP = 'SCOPE is fs, network, child-process, process, env or binding; an operation may follow: --allow-fs-read=/data';

/**
 * The names of permission options begin with these words. `permission-options.ts` derives the names
 * from the SDK's table.
 */
export const PERMISSION_FLAGS: readonly Flag[] = [
  { name: 'allow-SCOPE', value: 'LIST', optionalValue: true, repeats: true, help: `allow only these operations; ${SCOPE_HELP}` },
  { name: 'deny-SCOPE', value: 'LIST', optionalValue: true, repeats: true, help: 'deny these operations, with the same scopes' },
];

/** The options of every subcommand that makes a runtime. */
export const RUNTIME_FLAGS: readonly Flag[] = [
  { name: 'env', short: 'e', value: 'NAME[=VALUE]', repeats: true, help: 'set a variable, or copy it from this environment' },
  { name: 'cwd', value: 'PATH', help: 'the working directory of the guest' },
  { name: 'mount', value: 'HOST:GUEST[:ro]', repeats: true, help: 'mount a folder; with :ro read-only, with :overlay unchanged' },
  { name: 'node-modules', value: 'FOLDER', help: 'mount a node_modules folder of this machine, read-only' },
  { name: 'limit', short: 'l', value: 'NAME=VALUE', repeats: true, help: 'set a limit; bytes may end with KiB, MiB or GiB' },
  { name: 'snapshot', value: 'ID', help: 'restore a snapshot from disk, by its id, digest or name' },
  { name: 'tenant', value: 'NAME', help: 'the owner of the runtime and its snapshots' },
  ...PERMISSION_FLAGS,
];

/** The options of every subcommand that runs one program. */
export const PROGRAM_FLAGS: readonly Flag[] = [
  { name: 'timeout', short: 't', value: 'MS', help: 'end the program after this number of milliseconds' },
  ...RUNTIME_FLAGS,
  JSON_OUTPUT,
  HELP,
];

/** The options that select the store of snapshots. */
export const STORE_FLAGS: readonly Flag[] = [
  { name: 'store', value: 'FOLDER', help: 'the folder of the snapshots' },
  { name: 'tenant', value: 'NAME', help: 'the owner of the snapshots' },
];
