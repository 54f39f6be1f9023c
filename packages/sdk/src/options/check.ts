// Checks the options and arguments of every public call once, before the call has an effect.
// Next: `hints.ts`, which finds the right name for a wrong name.

import { invalidOption } from '../errors/make.js';
import { BINDINGS } from './bindings.js';
import { CHECK_OPTIONS } from './check-code.js';
import { EXPORT_TAR, IMPORT_TAR, MKDIR, READ_STREAM, STAT, TREE, WATCH, WRITE_FILE, WRITE_STREAM } from './files.js';
import { GATEWAY, oneNaming } from './gateway.js';
import { hintFor } from './hints.js';
import { EXPOSE_PORT, FETCH, WAIT_FOR_LISTENER } from './network.js';
import { NETWORK_CHECK, NETWORK_UPDATE } from './outside.js';
import { PERMISSIONS } from './permissions.js';
import { ACQUIRE, POOL_DISPOSE, POOL_OPTIONS } from './pool.js';
import { MEMBERSHIP, NETWORK_CREATE } from './private-network.js';
import { ATTACH, CELL, COMMAND, EXEC_FILES, RESIDENT_EXEC, RESIDENT_RUNNER, RUN } from './programs.js';
import type { Fault, Rule } from './rule.js';
import { RUNTIME_OPTIONS } from './runtime.js';
import { show } from './show.js';
import { EMBEDDED_SIDECAR, SIDECAR } from './sidecar.js';
import { CLONE, PAUSE, RESUME, SNAPSHOT, STORE_CALL } from './snapshots.js';
import { isUnknownName, objectWith, type UnknownName } from './table.js';
import { TERMINAL } from './terminals.js';

const run = objectWith(RUN);
const command = objectWith(COMMAND);
const acquire = objectWith(ACQUIRE);
const storeCall = objectWith(STORE_CALL);

/** The rule for the options of each call. The names of the calls appear in messages. */
export const CALLS = {
  'NodeRuntime.create()': RUNTIME_OPTIONS,
  'exec()': run,
  'execFile()': run,
  'execFiles()': objectWith(EXEC_FILES),
  'run()': run,
  'spawn()': run,
  'execCommand()': command,
  'spawnCommand()': command,
  'openTerminal()': objectWith(TERMINAL),
  'createResidentRunner()': objectWith(RESIDENT_RUNNER),
  'ResidentRunner.exec()': objectWith(RESIDENT_EXEC),
  'ResidentRunner.run()': objectWith(RESIDENT_EXEC),
  'ResidentRunner.cell()': objectWith(CELL),
  'attach()': objectWith(ATTACH),
  'check()': CHECK_OPTIONS,
  'registerBindings()': objectWith({ bindings: BINDINGS }),
  'setPermissions()': PERMISSIONS,
  'writeFile()': objectWith(WRITE_FILE),
  'stat()': objectWith(STAT),
  'mkdir()': objectWith(MKDIR),
  'remove()': objectWith(TREE),
  'watch()': objectWith(WATCH),
  'createReadStream()': objectWith(READ_STREAM),
  'createWriteStream()': objectWith(WRITE_STREAM),
  'exportTar()': objectWith(EXPORT_TAR),
  'importTar()': objectWith(IMPORT_TAR),
  'fetch()': objectWith(FETCH),
  'network.update()': objectWith(NETWORK_UPDATE),
  'network.check()': objectWith(NETWORK_CHECK),
  'network.join()': objectWith(MEMBERSHIP),
  'Network.create()': objectWith(NETWORK_CREATE),
  'waitForListener()': objectWith(WAIT_FOR_LISTENER),
  'exposePort()': objectWith(EXPOSE_PORT),
  'createGateway()': objectWith(
    GATEWAY,
    'an object: { domain, resolve, token?, requestHost?, headTimeoutMs?, onError? }',
    oneNaming,
  ),
  'snapshot()': objectWith(SNAPSHOT),
  'clone()': objectWith(CLONE),
  'pause()': objectWith(PAUSE),
  'resume()': objectWith(RESUME),
  'snapshots.list()': storeCall,
  'snapshots.get()': storeCall,
  'snapshots.delete()': storeCall,
  'snapshots.export()': storeCall,
  'snapshots.import()': storeCall,
  'Sidecar.spawn()': objectWith(SIDECAR),
  'Sidecar.embedded()': objectWith(EMBEDDED_SIDECAR),
  'new RuntimePool()': POOL_OPTIONS,
  'acquire()': acquire,
  'withRuntime()': acquire,
  'RuntimePool.dispose()': objectWith(POOL_DISPOSE),
} satisfies Readonly<Record<string, Rule>>;

/** The name of a call that has options. */
export type OptionCall = keyof typeof CALLS;

/** Throws `ERR_INVALID_OPTION` for the first fault of `options`. Accepts `undefined`. */
export function checkOptions(call: OptionCall, options: unknown): void {
  if (options !== undefined) checkGivenOptions(call, options);
}

/** Throws `ERR_INVALID_OPTION` for the first fault of options that must be present. */
export function checkGivenOptions(call: OptionCall, options: unknown): void {
  const fault = CALLS[call].fault(options);
  if (fault === undefined) return;
  const option = fault.path.length === 0 ? 'options' : fault.path.map(String).join('.');
  throw refusal(call, option, fault, fault.hint ?? (isUnknownName(fault) ? hintOf(fault, call) : undefined));
}

/**
 * Throws `ERR_INVALID_OPTION` if an argument breaks `rule`. For an item of a list, the error names
 * the argument and the index. For a property of an object, the error names the property, as for an
 * option.
 */
export function checkArgument(call: string, argument: string, rule: Rule, value: unknown): void {
  const fault = rule.fault(value);
  if (fault === undefined) return;
  const path = typeof fault.path[0] === 'string' ? fault.path : [argument, ...fault.path];
  throw refusal(call, path.map(String).join('.'), fault);
}

const hintOf = ({ path, options }: UnknownName, call: string): string | undefined =>
  hintFor(String(path.at(-1)), options, call, CALLS);

function refusal(call: string, option: string, { expected, received }: Fault, hint?: string): Error {
  return invalidOption(call, { option, expected, received: show(received) }, hint);
}
