// The languages of contexts.

/** The languages that contexts can have, with the options of their runners. */
const RUNNERS = {
  javascript: { runner: 'javascript', cell: 'javascript' },
  typescript: { runner: 'javascript', cell: 'typescript' },
  python: { runner: 'python', cell: 'python' },
  bash: { runner: 'bash', cell: 'javascript' },
} as const;

/** The options of the runner and of the cells of a language. */
export type RunnerLanguage = (typeof RUNNERS)[keyof typeof RUNNERS];

/** The language of requests that name no language. */
export const DEFAULT_LANGUAGE = 'python';

const ALIASES: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  js: 'javascript',
  py: 'python',
  ts: 'typescript',
  sh: 'bash',
});

/** Returns the name of a language without its short forms. */
export function languageOf(given: string | null | undefined): string {
  const name = (given ?? DEFAULT_LANGUAGE).toLowerCase();
  return ALIASES[name] ?? name;
}

/** Returns the options of a language, or `undefined` for a language that sandboxes cannot run. */
export const runnerLanguageOf = (language: string): RunnerLanguage | undefined =>
  Object.hasOwn(RUNNERS, language) ? RUNNERS[language as keyof typeof RUNNERS] : undefined;

/** The sentence about a language that sandboxes cannot run. */
export const unavailable = (language: string): string =>
  `${language} is not available in this sandbox. The available languages are ${Object.keys(RUNNERS).join(', ')}.`;
