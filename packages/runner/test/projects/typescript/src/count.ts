// A module for the build with tsc: types, generics, a regular expression of Unicode.

export interface Count {
  readonly word: string;
  readonly times: number;
}

/** The words of a text, most frequent first. */
export function countWords(text: string): Count[] {
  const counts = new Map<string, number>();
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, times]) => ({ word, times })).sort((a, b) => b.times - a.times || (a.word < b.word ? -1 : 1));
}
