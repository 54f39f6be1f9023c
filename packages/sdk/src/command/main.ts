#!/usr/bin/env node
// The command `coldframe`. This module selects the subcommand, and imports only the module of that
// subcommand. The start of `coldframe run` therefore costs little more than the start of the SDK.
// Next: `subcommands.ts`, `run.ts`.

import { invalidOption } from '../errors/make.js';
import { nearest } from '../options/hints.js';
import { VERSION } from '../version.js';
import { printFailure } from './failure.js';
import { parse } from './parse.js';
import type { Execute, Subcommand } from './subcommand.js';
import { SUBCOMMANDS } from './subcommands.js';

/** The exit code of a process that SIGPIPE ends. */
const BROKEN_PIPE = 141;

const MODULES: Readonly<Record<string, () => Promise<{ execute: Execute }>>> = {
  run: () => import('./run.js'),
  exec: () => import('./exec.js'),
  repl: () => import('./repl.js'),
  sh: () => import('./sh.js'),
  bench: () => import('./bench.js'),
  doctor: () => import('./doctor.js'),
  snapshot: () => import('./snapshot.js'),
  mcp: () => import('./mcp.js'),
  serve: () => import('./server.js'),
  sandbox: () => import('./server.js'),
  template: () => import('./server.js'),
  login: () => import('./server.js'),
  logout: () => import('./server.js'),
  whoami: () => import('./server.js'),
  completion: () => import('./completion.js'),
};

async function main([name, ...words]: readonly string[]): Promise<number> {
  if (name === '--version' || name === '-V') {
    console.log(VERSION);
    return 0;
  }
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const { commandHelp, subcommandHelp } = await import('./help.js');
    console.log(words[0] === undefined ? commandHelp(SUBCOMMANDS) : subcommandHelp(find(words[0])));
    return 0;
  }
  const args = parse(find(name), words);
  if (args.flags.has('help')) {
    const { subcommandHelp } = await import('./help.js');
    console.log(subcommandHelp(args.subcommand));
    return 0;
  }
  const { execute } = await (MODULES[args.subcommand.name] as () => Promise<{ execute: Execute }>)();
  return execute(args, SUBCOMMANDS);
}

function find(name: string): Subcommand {
  const found = SUBCOMMANDS.find((subcommand) => subcommand.name === name);
  if (found !== undefined) return found;
  const names = SUBCOMMANDS.map((subcommand) => subcommand.name);
  const right = nearest(name, names);
  const hint = right === undefined ? undefined : `It is spelled \`${right}\`.`;
  const facts = { option: name, expected: `one of ${names.join(', ')}`, received: JSON.stringify(name) };
  throw invalidOption('`coldframe`', facts, hint);
}

// The reader of the output has closed its end, as `head` does. The sidecar of this process ends
// too, because its channel closes.
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(BROKEN_PIPE);
  throw error;
}

process.stdout.on('error', endQuietly);
process.stderr.on('error', endQuietly);

const words = process.argv.slice(2);
let exitCode: number;
try {
  exitCode = await main(words);
} catch (error) {
  exitCode = printFailure(error, words.includes('--json'));
}
// Stdin may still be open. On Linux, writes to files, pipes and terminals are synchronous, so all
// output has been written.
process.exit(exitCode);
