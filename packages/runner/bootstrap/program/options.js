// `node`'s own options of a process (node_options.cc). `execArgv` and NODE_OPTIONS are parsed into
// the values that Node's library reads. The library made some decisions from options while the
// image was made. These decisions are repeated. The shim calls `applyOptions` only for a process
// that has options, so other starts are not slower. Next: unsupported-options.js, which has the
// options that are refused; internal-bindings/options.js, which has the values; run-file.js, which
// runs afterwards.
'use strict';

const { applyConditions } = require('../modules/conditions.js');
const context = require('../context.js');
const { unload } = require('../start-up/builtins.js');
const { evaluate } = require('./evaluate.js');
const shell = require('./shell.js');
const { applyTlsOptions, conflictOf } = require('./tls-options.js');
const { reasonAgainst } = require('./unsupported-options.js');

const FILE = 3;
const BAD_OPTION_EXIT_CODE = 9;
const ALIASES = {
  __proto__: null,
  '-r': '--require',
  '-C': '--conditions',
  '-c': '--check',
  '-e': '--eval',
  '-h': '--help',
  '-i': '--interactive',
  '-p': '--print',
  '-v': '--version',
  '--loader': '--experimental-loader',
  '--es-module-specifier-resolution': '--experimental-specifier-resolution',
};
// The allowed values of options that do not accept every text.
const CHOICES = {
  __proto__: null,
  '--unhandled-rejections': ['warn-with-error-code', 'throw', 'strict', 'warn', 'none'],
};
// Options of V8, which do not change a program's result. The guest ignores these options, except
// that `--expose-gc` defines `gc`.
const ENGINE =
  /^--(?:(?:no-)?(?:expose[-_]gc|harmony[-\w]*|opt|stress[-\w]*|jitless|lite-mode|use-strict|interpreted-frames-native-stack|abort-on-uncaught-exception)|(?:max|min|stack|initial|gc|predictable|random|v8|turbo|sparkplug|maglev|concurrent|optimize|trace-gc|huge|single|perf)[-_\w]*)(?:=.*)?$/;

function applyOptions() {
  // A process with a command line reads its options later, together with the options of the
  // environment.
  if (native.mode() === FILE && native.source() === '') return;
  // The option of a shell that stays alive is the shell's name.
  if (shell.notebook() !== undefined) return;
  const { process } = context;
  const flags = native.execArgv();
  const fromEnvironment = splitEnvironment(process.env.NODE_OPTIONS ?? '');
  // Each process changes a copy of the values, because the image's values are shared.
  const values = { ...context.internalBinding('options').getCLIOptionsValues() };
  refuse(parse([...fromEnvironment, ...flags], values).bad ?? conflictOf(values));
  process.execArgv = flags.filter((flag) => !flag.startsWith('--eval='));
  use(values, flags);
  if (flags.some((flag) => flag.startsWith('--eval='))) evaluate(values);
}

// Applies a whole command line, `node` first. Returns the process's values and the words after the
// options.
function applyCommandLine([called, ...line]) {
  const { process } = context;
  const values = { ...context.internalBinding('options').getCLIOptionsValues(), '--input-type': '', '--eval': null };
  refuse(parse(splitEnvironment(process.env.NODE_OPTIONS ?? ''), values).bad);
  const { bad, at } = parse(line, values, true);
  refuse(bad ?? conflictOf(values), called);
  const flags = line.slice(0, at);
  const rest = line.slice(line[at] === '--' ? at + 1 : at);
  process.execArgv = flags;
  process.argv = [process.execPath, ...rest];
  if (values['--eval'] === null) values['--eval'] = undefined;
  else process._eval = values['--eval'];
  use(values, flags);
  return { values, rest };
}

function refuse(bad, called = 'node') {
  if (bad === undefined) return;
  native.write(2, `${called}: ${bad}\n`);
  native.exit(BAD_OPTION_EXIT_CODE);
}

function use(values, flags) {
  if (context.process.env.NODE_USE_SYSTEM_CA === '1') values['--use-system-ca'] = true;
  context.cliOptions = values;
  context.requireBuiltin('internal/options').refreshOptions();
  takeEffect(values, flags);
}

// Splits NODE_OPTIONS into words. White space separates words, double quotes group characters, and
// a backslash within quotes escapes the next character.
function splitEnvironment(text) {
  const parts = [];
  for (const [part] of text.matchAll(/(?:[^\s"]|"(?:[^"\\]|\\.)*")+/g))
    parts.push(part.replace(/"((?:[^"\\]|\\.)*)"/g, (_, inner) => inner.replace(/\\(.)/g, '$1')));
  return parts;
}

// Reads the flags into `values`. Returns `bad`, the reason of a failure or undefined, and `at`, the
// number of flags read. On a command line the first word that is no option ends the options.
function parse(flags, values, isCommandLine = false) {
  let i = 0;
  for (; i < flags.length; i++) {
    if (isCommandLine && (flags[i] === '--' || flags[i] === '-' || !flags[i].startsWith('-'))) break;
    const equals = flags[i].indexOf('=');
    const written = equals === -1 ? flags[i] : flags[i].slice(0, equals);
    const dashed = written.startsWith('--') ? written.replaceAll('_', '-') : written;
    if (isCommandLine && dashed === '-pe') {
      setSwitch(values, '--print');
      flags = flags.with(i, '-e');
      i--;
      continue;
    }
    const name = ALIASES[dashed] ?? dashed;
    const unsupported = reasonAgainst(name);
    if (unsupported !== undefined) return { bad: unsupported };
    if (!Object.hasOwn(values, name) || values[name] === undefined) {
      if (ENGINE.test(flags[i])) {
        if (/^--expose[-_]gc$/.test(flags[i])) defineGc();
        continue;
      }
      return { bad: `bad option: ${flags[i]}` };
    }
    const known = values[name];
    if (typeof known === 'boolean') {
      if (equals !== -1) return { bad: `${written} does not take an argument` };
      setSwitch(values, name);
      // `--print` reads the next word as the program, unless that word is an option
      if (isCommandLine && name === '--print' && i + 1 < flags.length && !flags[i + 1].startsWith('-'))
        values['--eval'] = flags[++i];
      continue;
    }
    if (equals === -1 && (i + 1 === flags.length || flags[i + 1].startsWith('-')))
      return { bad: `${written} requires an argument` };
    const text = equals === -1 ? flags[++i] : flags[i].slice(equals + 1);
    if (CHOICES[name]?.includes(text) === false) return { bad: `invalid value for ${name}` };
    if (Array.isArray(known)) values[name] = [...known, text];
    else values[name] = typeof known === 'number' ? Number(text) : text;
  }
  return { bad: undefined, at: i };
}

function setSwitch(values, name) {
  const opposite = name.startsWith('--no-') ? `--${name.slice(5)}` : `--no-${name.slice(2)}`;
  values[name] = true;
  if (Object.hasOwn(values, opposite)) values[opposite] = false;
}

function defineGc() {
  Object.defineProperty(globalThis, 'gc', { value: () => context.collectGarbage(), writable: true, configurable: true });
}

const ALIASED = {
  noDeprecation: '--no-deprecation',
  noProcessWarnings: '--no-warnings',
  traceProcessWarnings: '--trace-warnings',
  throwDeprecation: '--throw-deprecation',
  traceDeprecation: '--trace-deprecation',
};

// Runs the parts of Node's preparation of a process that depend on options.
function takeEffect(values, flags) {
  const { process, requireBuiltin } = context;
  for (const [property, option] of Object.entries(ALIASED)) if (values[option]) process[property] = true;
  if (!values['--warnings']) process.removeListener('warning', requireBuiltin('internal/process/warning').onWarning);
  if (values['--expose-internals']) {
    const { BuiltinModule } = requireBuiltin('internal/bootstrap/realm');
    BuiltinModule.exposeInternals();
    unload(BuiltinModule.map);
  }
  if (flags.some((flag) => /^--stack[-_]trace[-_]limit=/.test(flag))) Error.stackTraceLimit = values['--stack-trace-limit'];
  if (values['--dns-result-order'] !== '') requireBuiltin('internal/dns/utils').initializeDns();
  applyTlsOptions(values);
  const net = requireBuiltin('net');
  net.setDefaultAutoSelectFamily(values['--network-family-autoselection']);
  net.setDefaultAutoSelectFamilyAttemptTimeout(values['--network-family-autoselection-attempt-timeout']);
  setDefaultCiphers(values['--tls-cipher-list']);
  if (values['--title'] !== '') process.title = values['--title'];
  if (values['--enable-source-maps'])
    requireBuiltin('internal/source_map/source_map_cache').setSourceMapsSupport(true, { nodeModules: true, generatedCode: true });
  if (values['--experimental-vm-modules']) Object.assign(requireBuiltin('vm'), pick(requireBuiltin('internal/vm/module')));
  if (values['--no-experimental-global-navigator']) delete globalThis.navigator;
  if (values['--no-experimental-websocket']) {
    delete globalThis.WebSocket;
    delete globalThis.CloseEvent;
  }
  if (values['--disable-proto'] === 'delete') Reflect.deleteProperty(Object.prototype, '__proto__');
  if (values['--pending-deprecation']) pendDeprecations();
  if (values['--conditions'].length > 0 || values['--no-addons'] || values['--no-require-module']) applyConditions(values);
  if (values['--require'].length > 0) requireBuiltin('internal/modules/cjs/loader').Module._preloadModules(values['--require']);
  for (const file of values['--env-file']) process.loadEnvFile(file);
}

const pick = ({ Module, SourceTextModule, SyntheticModule }) => ({ Module, SourceTextModule, SyntheticModule });

// Sets the suites that Node's library has read while the image was made.
function setDefaultCiphers(list) {
  const tls = context.requireBuiltin('tls');
  if (list === tls.DEFAULT_CIPHERS) return;
  tls.DEFAULT_CIPHERS = list;
  context.requireBuiltin('crypto').constants.defaultCipherList = list;
}

function pendDeprecations() {
  const { process, requireBuiltin } = context;
  const { deprecate } = requireBuiltin('internal/util');
  process.binding = deprecate(process.binding, 'process.binding() is deprecated. Please use public APIs instead.', 'DEP0111');
  process._tickCallback = deprecate(process._tickCallback, 'process._tickCallback() is deprecated', 'DEP0134');
}

module.exports = { applyCommandLine, applyOptions };
