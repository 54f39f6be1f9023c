// The texts of `--help`. The names and the ranges of the limits come from the SDK's option table.

import { LIMITS } from '../options/limits.js';
import { OPERATIONS, SCOPES } from '../options/permissions.js';
import type { Flag } from './flags.js';
import { paintFor } from './styles.js';
import type { Subcommand } from './subcommand.js';

const paint = paintFor(process.stdout);
const heading = (text: string): string => paint('bold', text);

const EXIT_CODES = `The exit code is the exit code of the program: 124 after a timeout, 134 at the limit of memory,
137 if the sandbox ended the program otherwise, 130 after SIGINT. If the command itself fails, the
exit code is 125, and stderr has a code and a remedy.`;

/** Returns the help of the command. */
export function commandHelp(subcommands: readonly Subcommand[]): string {
  const rows = subcommands.map(({ name, operands, summary }): Row => [operands === '' ? name : `${name} ${operands}`, summary]);
  return [
    'Run untrusted Node.js code in WebAssembly sandboxes.',
    '',
    `${heading('Usage:')} coldframe SUBCOMMAND [OPTION...] [OPERAND...]`,
    '',
    heading('Subcommands:'),
    ...table(rows),
    '',
    heading('Options:'),
    ...table([
      ['-h, --help', 'print this help; `coldframe help SUBCOMMAND` prints the options of a subcommand'],
      ['-V, --version', 'print the version'],
    ]),
    '',
    EXIT_CODES,
  ].join('\n');
}

/** Returns the help of one subcommand. */
export function subcommandHelp({ name, operands, summary, actions, flags, makesRuntime, examples }: Subcommand): string {
  return [
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    '',
    `${heading('Usage:')} coldframe ${name} [OPTION...] ${operands}`.trimEnd(),
    '',
    ...(actions === undefined ? [] : [heading('Actions:'), ...table(actions), '']),
    heading('Options:'),
    ...table(flags.map((flag): Row => [written(flag), flag.help])),
    ...(makesRuntime ? ['', ...limitsHelp(), '', ...permissionsHelp()] : []),
    '',
    heading('Examples:'),
    ...examples.map((example) => `  ${example}`),
    ...(makesRuntime ? ['', EXIT_CODES] : []),
  ].join('\n');
}

type Row = readonly [string, string];

/** The widest first column. A wider cell has its own line. */
const MAX_COLUMN = 32;

function table(rows: readonly Row[]): string[] {
  const width = Math.min(MAX_COLUMN, Math.max(...rows.map(([first]) => first.length)));
  return rows.map(([first, second]) => {
    const cell = paint('cyan', first) + ' '.repeat(Math.max(0, width - first.length));
    return first.length > width ? `  ${cell}\n  ${' '.repeat(width)}  ${second}` : `  ${cell}  ${second}`;
  });
}

function written({ name, short, value, optionalValue }: Flag): string {
  const long = `--${name}${value === undefined ? '' : optionalValue ? `[=${value}]` : ` ${value}`}`;
  return short === undefined ? long : `-${short}, ${long}`;
}

function limitsHelp(): string[] {
  const rows = Object.entries(LIMITS).map(([name, { expected }]): Row => [name, expected]);
  return [heading('Limits (--limit NAME=VALUE):'), ...table(rows)];
}

function permissionsHelp(): string[] {
  const rows = SCOPES.map((scope): Row => [hyphened(scope), OPERATIONS[scope].map(hyphened).join(', ')]);
  const values = 'LIST has guest paths (fs) or patterns such as localhost:80 (other scopes), separated by commas.';
  return [heading('Permissions (--allow-SCOPE[-OPERATION][=LIST]):'), ...table(rows), `  ${values}`];
}

const hyphened = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-');
