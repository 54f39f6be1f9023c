// What no output may hold: secrets of others, and what tells of the machine below.

import { cpus, homedir, hostname, networkInterfaces, release, userInfo } from 'node:os';
import type { Ground } from './place.js';

/** Shorter ones, and what sandboxes are called too, would be found by chance. */
const SHORTEST = 7;

/** Texts that must not appear, each with what it is. */
export function forbidden(ground: Ground, neighbourSecret: string): Map<string, string> {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const facts: [string, string | undefined][] = [
    ['the canary', ground.secret],
    ["the neighbour's secret", neighbourSecret],
    ["the host's folder", ground.root],
    ["the repository's folder", process.cwd()],
    ["the host's home", homedir()],
    ["the host's name", hostname()],
    ["the host's kernel", release()],
    ["the host's processor", cpus()[0]?.model],
    ["the host's user", userInfo().username],
    ["the host's environment", process.env.COLDFRAME_ESCAPES],
    ...addresses.filter(({ internal }) => !internal).map(({ address }): [string, string] => ["the host's address", address]),
  ];
  return new Map(facts.flatMap(([name, text]) => (text && text.length >= SHORTEST ? [[text, name]] : [])));
}

/** What of it is in a text: a sentence, or nothing. */
export function leaked(text: string, facts: Map<string, string>): string | undefined {
  for (const [fact, name] of facts) if (text.includes(fact)) return `${name} is in the output`;
  return undefined;
}
