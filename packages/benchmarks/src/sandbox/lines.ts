// Splits the chunks of an output into lines.

/** Yields every complete line of a stream of bytes, without the line feed. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

/** Resolves with the next line. @throws when the output has ended. */
export async function nextLine(lines: AsyncIterator<string>): Promise<string> {
  const { value, done } = await lines.next();
  if (done) throw new Error('the program has ended');
  return value;
}
