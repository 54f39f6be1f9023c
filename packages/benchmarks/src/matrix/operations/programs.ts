// Operations that start programs or send messages to a program.

import type { ExecResult } from '../../sandbox/snippet.js';
import { makeSnippet, problemOf, type Snippet } from '../../sandbox/snippet.js';
import type { Lane } from '../lane.js';
import { appOperation, equals, type Operation, timeCall } from '../operation.js';

/** Declares an operation that runs a new snippet at each call. */
const snippetOperation = (name: string, run: (lane: Lane, snippet: Snippet) => Promise<ExecResult>): Operation =>
  appOperation(name, 'programs', async (lane) => ({
    once: () => {
      const snippet = makeSnippet();
      return timeCall(
        () => run(lane, snippet),
        (result) => problemOf(snippet, result),
      );
    },
  }));

/** A number that the benchmark sends and that a program sends back in another form. */
let lastNumber = 0;

const FILE = 'program.mjs';
const FILE_TEXT = 'console.log(process.argv[2] * 2);\n';

const UPPER_CASE = `process.stdin.setEncoding('utf8').on('data', (text) => process.stdout.write(text.toUpperCase()));`;

export const programOperations: readonly Operation[] = [
  appOperation('create, dispose', 'programs', async ({ createAndDispose }) =>
    createAndDispose ? { once: () => timeCall(createAndDispose, () => undefined) } : undefined,
  ),
  snippetOperation('exec', (lane, { code }) => lane.exec(code)),
  appOperation('execFile', 'programs', async (lane) => {
    const path = `${lane.folder('memory')}/${FILE}`;
    await lane.writeFile(path, FILE_TEXT);
    return {
      once: () => {
        const number = ++lastNumber;
        return timeCall(async () => (await lane.execFile(path, [`${number}`])).stdout, equals(`${number * 2}\n`));
      },
    };
  }),
  appOperation('run', 'programs', async (lane) => ({
    once: () => {
      const number = ++lastNumber;
      return timeCall(() => lane.run(`__return(${number} * 3);`), equals(number * 3));
    },
  })),
  snippetOperation('spawn, to the end', async (lane, { code }) => (await lane.spawn(code)).result),
  appOperation('command: echo', 'programs', async (lane) => ({
    once: () => {
      const text = `${++lastNumber}`;
      return timeCall(async () => (await lane.command('echo', [text])).stdout, equals(`${text}\n`));
    },
  })),
  appOperation('command: sh, a pipeline', 'programs', async (lane) => ({
    once: () => {
      const text = `a${++lastNumber}`;
      const script = `echo ${text} | tr a-z A-Z`;
      return timeCall(async () => (await lane.command('sh', ['-c', script])).stdout, equals(`${text.toUpperCase()}\n`));
    },
  })),
  appOperation('a line to stdin and back', 'programs', async (lane) => {
    const program = await lane.spawn(UPPER_CASE);
    return {
      once: () => {
        const text = `a${++lastNumber}`;
        return timeCall(() => program.request(text), equals(text.toUpperCase()));
      },
      close: () => program.stop(),
    };
  }),
];
