// The subcommands: the words of the help, and the options. Help, argument parser and shell
// completion read this table. Next: `main.ts`, which imports the module of one subcommand.

import { type Flag, HELP, JSON_OUTPUT, PROGRAM_FLAGS, RUNTIME_FLAGS, STORE_FLAGS } from './flags.js';
import { SERVER_SUBCOMMANDS } from './server-subcommands.js';
import type { Subcommand } from './subcommand.js';

const RUN: Subcommand = {
  name: 'run',
  operands: 'FILE|- [ARGUMENT...]',
  summary: 'run a file, or a program from stdin, in a new sandbox',
  flags: PROGRAM_FLAGS,
  passesOptionsAfter: 1,
  makesRuntime: true,
  examples: [
    'coldframe run app.mjs --port 80',
    'coldframe run --mount .:/workspace:ro --timeout 5000 app.mjs',
    'echo "console.log(1 + 1)" | coldframe run -',
  ],
};

const EXEC: Subcommand = {
  name: 'exec',
  operands: 'CODE [ARGUMENT...]',
  summary: 'run code from the command line in a new sandbox',
  flags: [{ name: 'typescript', help: 'the code is TypeScript' }, ...PROGRAM_FLAGS],
  passesOptionsAfter: 1,
  makesRuntime: true,
  examples: ["coldframe exec 'console.log(process.version)'", "coldframe exec --json 'console.log(1)'"],
};

const INTERACTIVE: Flag = { name: 'interactive', short: 'i', help: 'print prompts even if stdin is no terminal' };

const REPL: Subcommand = {
  name: 'repl',
  operands: '',
  summary: 'evaluate JavaScript line by line, with one state',
  flags: [
    INTERACTIVE,
    { name: 'timeout', short: 't', value: 'MS', help: 'end each evaluation after this time' },
    ...RUNTIME_FLAGS,
    HELP,
  ],
  makesRuntime: true,
  examples: ['coldframe repl', 'coldframe repl --limit cpuMs=1000'],
};

const SH: Subcommand = {
  name: 'sh',
  operands: '[-c COMMAND [ARGUMENT...]]',
  summary: 'open a shell in a new sandbox, or run a shell command',
  flags: [{ name: 'command', short: 'c', value: 'COMMAND', help: 'run this command and exit' }, INTERACTIVE, ...PROGRAM_FLAGS],
  passesOptionsAfter: 1,
  makesRuntime: true,
  examples: ['coldframe sh', "coldframe sh -c 'ls -la | wc -l'", 'coldframe sh < script.sh'],
};

const BENCH: Subcommand = {
  name: 'bench',
  operands: '',
  summary: 'measure starts on this machine, beside `node -e` and `/bin/true`',
  flags: [{ name: 'rounds', value: 'N', help: 'the number of rounds, by default 15' }, JSON_OUTPUT, HELP],
  examples: ['coldframe bench', 'coldframe bench --rounds 40 --json'],
};

const DOCTOR: Subcommand = {
  name: 'doctor',
  operands: '',
  summary: 'check that this machine can run sandboxes, and print remedies for what is missing',
  flags: [JSON_OUTPUT, HELP],
  examples: ['coldframe doctor'],
};

const SNAPSHOT: Subcommand = {
  name: 'snapshot',
  operands: 'ls | rm ID... | export ID FILE | import FILE',
  summary: 'list, delete, export and import the snapshots on disk',
  flags: [...STORE_FLAGS, JSON_OUTPUT, HELP],
  words: ['ls', 'rm', 'export', 'import'],
  examples: ['coldframe snapshot ls', 'coldframe snapshot export my-template template.snapshot'],
};

const MCP: Subcommand = {
  name: 'mcp',
  operands: '',
  summary: 'serve sandboxes to an agent by the Model Context Protocol on stdin and stdout',
  flags: [
    { name: 'max-sessions', value: 'N', help: 'the largest number of sessions, by default 16' },
    { name: 'idle', value: 'SECONDS', help: 'dispose a session that is unused for this time, by default 900' },
    { name: 'timeout', short: 't', value: 'MS', help: 'end each program after this time, by default 30000' },
    ...RUNTIME_FLAGS,
    HELP,
  ],
  makesRuntime: true,
  examples: ['coldframe mcp --mount .:/workspace:ro --limit cpuMs=10000'],
};

const COMPLETION: Subcommand = {
  name: 'completion',
  operands: 'bash|zsh|fish',
  summary: 'print a script that completes commands and options in a shell',
  flags: [HELP],
  words: ['bash', 'zsh', 'fish'],
  examples: ['source <(coldframe completion bash)', 'coldframe completion fish > ~/.config/fish/completions/coldframe.fish'],
};

/** All subcommands in the order of the help. */
export const SUBCOMMANDS: readonly Subcommand[] = [
  RUN,
  EXEC,
  REPL,
  SH,
  BENCH,
  DOCTOR,
  SNAPSHOT,
  MCP,
  ...SERVER_SUBCOMMANDS,
  COMPLETION,
];
