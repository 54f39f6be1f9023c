// The remedy for each error that the command can print, as one sentence. `docs/errors.md` has the
// remedies for callers of the SDK.

import type { CommandFacts, ErrorCode, FailureFacts, LocalFacts, RequestFacts, SnapshotFacts } from './codes.js';

type Known = keyof (FailureFacts & RequestFacts & SnapshotFacts & LocalFacts & CommandFacts);

/** The remedy for a fault of the installation. */
export const DOCTOR = 'Run `coldframe doctor`, which checks the installation.';
const REINSTALL = `Install the package again. ${DOCTOR}`;
const REPORT = 'This is a fault of Coldframe: report it with the program.';

const REMEDIES: Readonly<Record<Known, string>> = {
  ERR_TIMEOUT: 'Pass a larger `--timeout`, or find the endless wait in the program.',
  ERR_CPU_LIMIT: 'Pass a larger `--limit cpuMs=...`, or find the endless loop in the program.',
  ERR_MEMORY_LIMIT: 'Pass a larger `--limit memoryBytes=...`, for example 512MiB, or use less memory.',
  ERR_RESULT_LIMIT: 'Pass a larger `--limit resultBytes=...`, or write the result to a file.',
  ERR_CANCELED: 'Run the program again.',
  ERR_INTERRUPTED: 'Run the code again.',
  ERR_RUNTIME_DISPOSED: 'Run the program again.',
  ERR_RUNNER_EXITED: 'Start a new session.',
  ERR_ROLLED_BACK: 'Run the program again: the rollback ended it.',
  ERR_ENGINE_FAULT: REPORT,
  ERR_INTERNAL: REPORT,
  ERR_RESULT_REFUSED: 'Return a value without the key that the message names.',
  ERR_INVALID_REQUEST: 'Correct the value that the message names.',
  ERR_VERSION_MISMATCH: 'Install one release of `coldframe` and `@coldframe/sidecar`.',
  ERR_FRAME_TOO_LARGE: 'Pass smaller programs and files, or mount a folder with `--mount`.',
  ERR_RUNTIME_NOT_FOUND: REPORT,
  ERR_RESOURCE_EXHAUSTED: `Raise the limit that the message names with \`--limit\`. ${DOCTOR}`,
  ERR_ARCHIVE: 'Do not trust the archive.',
  ERR_LINK_TO_MOUNT: 'Pass the path in the mount that the message names.',
  ERR_PYTHON_MISSING: 'Install the package that the message names.',
  ERR_IMAGE: REINSTALL,
  ERR_WALLS_MISSING: `Allow the parts that the message names, or start without \`walls: 'required'\`. ${DOCTOR}`,
  ERR_SNAPSHOT_NOT_FOUND: 'List the snapshots on disk with `coldframe snapshot ls`; `--store` and `--tenant` select others.',
  ERR_SNAPSHOT_DAMAGED: 'Delete the file, and export the snapshot again.',
  ERR_SNAPSHOT_FOREIGN: 'Use the release of Coldframe, and the kind of machine, that took the snapshot.',
  ERR_SNAPSHOT_FILE: 'Choose a path that this user can read and write.',
  ERR_SNAPSHOT_EXISTS: 'Delete the present snapshot first: `coldframe snapshot rm ID`.',
  ERR_SNAPSHOT: 'Free memory, and try again.',
  ERR_SNAPSHOT_LACKS: 'Pass the mount that the message names with `--mount`.',
  ERR_NOT_QUIET: 'Wait until the program is idle, or end it.',
  ERR_DETACHED: 'Attach to the program again.',
  ERR_RUNTIME_PAUSED: 'Start a new session.',
  ERR_INVALID_OPTION: 'Run `coldframe help`, or the subcommand with `--help`, for the options.',
  ERR_NOT_SUPPORTED: 'Do what the message names instead.',
  ERR_PACKAGE_NOT_FOUND: 'Install the package that the message names.',
  ERR_PLATFORM_PACKAGE: `Install the package again, without \`--omit=optional\`. ${DOCTOR}`,
  ERR_PROGRAM_FAILED: 'Read the output of the program.',
  ERR_PYTHON_PACKAGES: 'Read the output of pip. Packages need a wheel without extension modules, and an index that is reachable.',
  ERR_CHECK_FAILED: 'Check shorter code, or allow more time.',
  ERR_SIDECAR_SPAWN: REINSTALL,
  ERR_SIDECAR_EXITED: `Try again. ${DOCTOR}`,
  ERR_SIDECAR_DISPOSED: 'Try again.',
  ERR_RUNNER_DISPOSED: 'Start a new session.',
  ERR_PROTOCOL: REPORT,
  ERR_COMMAND_FILE: 'Pass the path of a file that this user can read, or `-` for stdin.',
  ERR_SESSION_NOT_FOUND: 'Create the session first, or list the sessions: an unused session is disposed after some time.',
  ERR_SESSION_LIMIT: 'Close a session, or start the server with a larger `--max-sessions`.',
};

/** The remedies for errors of files. The code is the name of Linux's error number. */
const FILE_REMEDY = 'Check the path that the message names. Paths of the guest are absolute, such as /workspace/data.txt.';

/** Returns the remedy for an error's code. */
export function remedyFor(code: ErrorCode | string): string {
  if (Object.hasOwn(REMEDIES, code)) return REMEDIES[code as Known];
  return code.startsWith('ERR_') ? DOCTOR : FILE_REMEDY;
}
