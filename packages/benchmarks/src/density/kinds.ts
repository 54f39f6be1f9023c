// The three kinds of live runtimes that are counted: one that has run a program and holds none, one in which a resident runner waits, and copies of one
// warm runner with packages loaded. Each can make one more, which has answered a question nobody could have answered before, and can be asked again.

import type { Box, Host, OpenHost } from '../lifecycle/box.js';
import { must } from '../lifecycle/operation.js';
import { askPackages, loadPackages, packageFiles } from '../lifecycle/packages.js';
import { makeSnippet, type Snippet, whatIsWrong } from '../scenarios/snippet.js';

/** A sidecar that takes one more live runtime at a time. */
export interface Crowd {
  host: Host;
  make(): Promise<Box>;
  /** Throws when the answer is wrong. */
  probe(box: Box): Promise<void>;
}

export const KINDS = ['idle', 'runner', 'clone'] as const;
export type KindName = (typeof KINDS)[number];

export const WHAT: Readonly<Record<KindName, string>> = {
  idle: 'idle after one exec',
  runner: 'an idle resident runner each',
  clone: 'copies of one warm runner with packages',
};

export async function openCrowd(kind: KindName, open: OpenHost, directory: string): Promise<Crowd> {
  const host = await open(directory);
  if (kind === 'idle') return { host, make: () => host.create({ runner: false }), probe: (box) => exec(box, makeSnippet()) };
  if (kind === 'runner') return { host, make: () => host.create({ runner: true }), probe: (box) => must(box, makeSnippet()) };
  try {
    const parent = await host.create({ runner: true, files: packageFiles() });
    await must(parent, loadPackages);
    await must(parent, askPackages());
    const saved = await parent.snapshot('memory');
    await parent.dispose();
    return { host, make: () => host.restore(saved), probe: (box) => must(box, askPackages()) };
  } catch (error) {
    await host.close();
    throw error;
  }
}

async function exec(box: Box, snippet: Snippet): Promise<void> {
  const problem = whatIsWrong(snippet, await box.exec(snippet.code));
  if (problem !== undefined) throw new Error(problem);
}
