// The colours of the command's own text. A stream has colours if it is a terminal with colours.
// NO_COLOR turns the colours off, and FORCE_COLOR turns them on for any stream, as in Node.

type Stream = NodeJS.WriteStream;

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;

/** The name of a style. */
export type Style = keyof typeof CODES;

/** Applies a style to a text. */
export type Paint = (style: Style, text: string) => string;

/** Returns whether the command's own text on `stream` has colours. */
export function hasColours(stream: Stream, env: NodeJS.ProcessEnv = process.env): boolean {
  const { NO_COLOR, FORCE_COLOR } = env;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  return stream.isTTY === true && stream.hasColors();
}

/** Returns the function that applies styles to texts for `stream`. */
export function paintFor(stream: Stream): Paint {
  if (!hasColours(stream)) return (_style, text) => text;
  return (style, text) => `\x1b[${CODES[style][0]}m${text}\x1b[${CODES[style][1]}m`;
}
