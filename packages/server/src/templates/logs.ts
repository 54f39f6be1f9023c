// The lines of builds. They are kept in memory for a while after the end of a build.

/** A line of a build. */
export interface BuildLine {
  /** Milliseconds since 1970. */
  at: number;
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  /** The number of the step, `base` or `finalize`. */
  step: string | undefined;
}

const MOST_LINES = 10_000;
const LONGEST_LINE = 4_096;
const MOST_BUILDS = 100;

/** The lines of all builds of this process. */
export class BuildLogs {
  readonly #lines = new Map<string, BuildLine[]>();

  /** Begins the log of a build. Forgets the oldest log beyond the bound. */
  begin(buildId: string): void {
    this.#lines.set(buildId, []);
    if (this.#lines.size > MOST_BUILDS) this.#lines.delete(this.#lines.keys().next().value as string);
  }

  /** Adds a line. Lines beyond the bound are dropped. */
  add(buildId: string, level: BuildLine['level'], message: string, step?: string): void {
    const lines = this.#lines.get(buildId);
    if (lines === undefined || lines.length >= MOST_LINES) return;
    const isLast = lines.length === MOST_LINES - 1;
    const text = isLast ? 'Further lines of this build are not kept' : message.slice(0, LONGEST_LINE);
    lines.push({ at: Date.now(), level: isLast ? 'warn' : level, message: text, step });
  }

  /** Returns the lines of a build. */
  of(buildId: string): readonly BuildLine[] {
    return this.#lines.get(buildId) ?? [];
  }
}
