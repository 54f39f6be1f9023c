// `coldframe exec CODE [ARGUMENT...]`: runs code from the command line.

import { wrongOperands } from './parse.js';
import { runProgram } from './program.js';
import { timeoutOf } from './runtime-options.js';
import type { Arguments } from './subcommand.js';

export function execute(args: Arguments): Promise<number> {
  const [code, ...rest] = args.operands;
  if (code === undefined) wrongOperands(args);
  const language = args.flags.has('typescript') ? 'typescript' : 'javascript';
  const options = { ...timeoutOf(args), args: rest, language } as const;
  return runProgram(args, (runtime, output) => runtime.spawn(code, { ...options, ...output }));
}
