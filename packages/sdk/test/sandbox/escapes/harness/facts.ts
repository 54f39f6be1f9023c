// Collects text that no output may contain: secrets of other runtimes, and facts of the host
// machine.

import { cpus, homedir, hostname, networkInterfaces, release, userInfo } from 'node:os';
import type { HostFolders } from './folders.js';

/**
 * The smallest length of a forbidden text. A shorter text could appear in an output by chance.
 */
const MIN_LENGTH = 7;

/** Returns the forbidden texts with their descriptions. */
export function forbidden(folders: HostFolders, neighbourSecret: string): Map<string, string> {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const facts: [string, string | undefined][] = [
    ['the canary', folders.secret],
    ["the neighbour's secret", neighbourSecret],
    ["the host machine's folder", folders.root],
    ["the repository's folder", process.cwd()],
    ["the host machine's home", homedir()],
    ["the host machine's name", hostname()],
    ["the host machine's kernel", release()],
    ["the host machine's processor", cpus()[0]?.model],
    ["the host machine's user", userInfo().username],
    ["the host machine's environment", process.env.COLDFRAME_ESCAPES],
    ...addresses
      .filter(({ internal }) => !internal)
      .map(({ address }): [string, string] => ["the host machine's address", address]),
  ];
  return new Map(facts.flatMap(([name, text]) => (text && text.length >= MIN_LENGTH ? [[text, name]] : [])));
}

/** Returns a sentence about forbidden text in `text`, or `undefined`. */
export function leaked(text: string, facts: Map<string, string>): string | undefined {
  for (const [fact, name] of facts) if (text.includes(fact)) return `${name} is in the output`;
  return undefined;
}
