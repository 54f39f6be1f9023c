// The log of the server: one JSON object a line. The log has no content of sandboxes and no token.

/** The topics of lines. */
export type LogTopic = 'server' | 'request' | 'sandbox' | 'build';

/** Writes lines. */
export interface Log {
  info(topic: LogTopic, facts: Record<string, unknown>): void;
  error(topic: LogTopic, facts: Record<string, unknown>): void;
}

/** The importance of the lines that are written. */
export type LogChoice = 'off' | 'error' | 'info';

/** Makes a log that passes lines to `write`. */
export function createLog(choice: LogChoice, write: (line: string) => void): Log {
  const line = (level: string, topic: LogTopic, facts: Record<string, unknown>): void =>
    write(`${JSON.stringify({ time: new Date().toISOString(), level, topic, ...facts })}\n`);
  return {
    info: (topic, facts) => choice === 'info' && line('info', topic, facts),
    error: (topic, facts) => choice !== 'off' && line('error', topic, facts),
  };
}
