// The subcommands of `coldframe` that need this package. The package `coldframe` parses the command
// line and imports this module. Next: `serve.ts`, `sandbox.ts`, `template.ts`, `login.ts`.

import { type Action, type CommandCall, CommandError } from './call.js';

export type { CommandCall } from './call.js';

/** Executes a subcommand and returns the exit code. */
export async function execute(call: CommandCall): Promise<number> {
  if (call.name === 'serve') return (await import('./serve.js')).serve(call);
  if (call.name === 'sandbox') return actionOf(call, (await import('./sandbox.js')).SANDBOX_ACTIONS)(call);
  if (call.name === 'template') return actionOf(call, (await import('./template.js')).TEMPLATE_ACTIONS)(call);
  const { login, logout, whoami } = await import('./login.js');
  if (call.operands.length > 0) throw new CommandError(`coldframe ${call.name}: expected no operands`);
  if (call.name === 'login') return login(call);
  if (call.name === 'logout') return logout();
  if (call.name === 'whoami') return whoami(call);
  throw new CommandError(`coldframe has no subcommand ${call.name}`);
}

function actionOf({ name, operands }: CommandCall, actions: Readonly<Record<string, Action>>): Action {
  const [word = ''] = operands;
  const action = Object.hasOwn(actions, word) ? actions[word] : undefined;
  if (action !== undefined) return action;
  throw new CommandError(
    `coldframe ${name}: expected one of ${Object.keys(actions).join(', ')}, received ${JSON.stringify(word)}`,
  );
}
