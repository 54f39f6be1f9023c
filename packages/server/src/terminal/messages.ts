// The messages of the terminal's protocol. Text messages are JSON, and binary messages are input or
// output. `docs/internals/terminal.md` describes the protocol.

import { z } from 'zod';

const LARGEST_SIDE = 1_000;
const side = z.number().int().min(1).max(LARGEST_SIDE);
const text = z.string().max(4_096);

/** The first message of a client, which has the key and the command. */
export const OpenMessage = z.object({
  type: z.literal('open'),
  apiKey: text,
  cols: side,
  rows: side,
  command: z.array(text).min(1).max(64).optional(),
  cwd: text.optional(),
  envs: z.record(text, text).default({}),
  user: text.optional(),
});

/** The first message of a client. */
export type OpenMessage = z.infer<typeof OpenMessage>;

/** A change of the size. */
export const ResizeMessage = z.object({ type: z.literal('resize'), cols: side, rows: side });

/** A message of the server. */
export type ServerMessage =
  | { type: 'opened'; pid: number; pty: boolean }
  | { type: 'exit'; exitCode: number }
  | { type: 'error'; message: string };

/** Returns the JSON of a text message, or `undefined` for other text. */
export function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
