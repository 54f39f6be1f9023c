// A small client of the server, for the command and the page. Next: `client.ts`.

export { Agent, type Command, type ProgramEvent } from './agent.js';
export { Client, type NewSandbox, type Place } from './client.js';
export { ServerError } from './failure.js';
export type * from './shapes.js';
export {
  type Socket,
  TERMINAL_PROTOCOL,
  Terminal,
  type TerminalEvents,
  type TerminalSize,
  type TerminalWish,
  terminalUrl,
} from './terminal.js';
