// The tools of the server. A tool validates its input with the schema that the client sees, and
// calls one function of the SDK.

import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { errorResult, programResult, result } from './results.js';
import { DEFAULT_SESSION, type Sessions } from './sessions.js';

const SESSION = z
  .string()
  .optional()
  .describe(`The id of the session, by default "${DEFAULT_SESSION}", which the first call creates.`);
const SNAPSHOT = z.string().describe('The id or the name of a snapshot.');
const TIMEOUT = z.number().int().min(1).optional().describe('Milliseconds after which the sandbox ends the program.');

const PROGRAM_OUTPUT = {
  exitCode: z.number(),
  stdout: z.string(),
  stderr: z.string(),
  stdoutTruncated: z.boolean().optional(),
  stderrTruncated: z.boolean().optional(),
  stdoutBase64: z.string().optional(),
  stderrBase64: z.string().optional(),
};
const SNAPSHOT_OUTPUT = z.object({
  id: z.string(),
  name: z.string().optional(),
  size: z.number(),
  programs: z.number(),
  createdAt: z.string(),
});

type Shape = Record<string, z.ZodType>;

// A client checks the content of an error with the schema too. So after an error, all other fields
// may be absent.
const ERROR = z.looseObject({ code: z.string(), message: z.string(), remedy: z.string() }).optional();
const outputOf = (output: Shape) => z.looseObject({ ...z.object(output).partial().shape, error: ERROR });

/** The defaults of the tools. */
export interface ToolDefaults {
  timeoutMs: number;
  /** The working directory of the sandboxes. */
  folder: string;
}

/** Registers all tools. Returns the calls in progress. */
export function registerTools(
  server: McpServer,
  sessions: Sessions,
  { timeoutMs, folder }: ToolDefaults,
): ReadonlySet<Promise<unknown>> {
  const pending = new Set<Promise<unknown>>();
  const PATH = z.string().describe(`An absolute path in the sandbox, such as ${folder}/data.txt.`);

  function tool<Input extends Shape>(
    name: string,
    description: string,
    { input, output, readOnly = false }: { input: Input; output: Shape; readOnly?: boolean },
    work: (args: z.infer<z.ZodObject<Input>>, signal: AbortSignal) => Promise<CallToolResult>,
  ): void {
    const annotations = { readOnlyHint: readOnly, openWorldHint: false };
    const config = { description, inputSchema: z.object(input), outputSchema: outputOf(output), annotations };
    const handle = (args: z.infer<z.ZodObject<Input>>, { signal }: { signal: AbortSignal }): Promise<CallToolResult> => {
      const call = work(args, signal).catch(errorResult);
      pending.add(call);
      return call.finally(() => pending.delete(call));
    };
    // The types of the server cannot express a generic shape.
    server.registerTool(name, config as never, handle as never);
  }

  const programOptions = (timeout: number | undefined, signal: AbortSignal) => ({ timeout: timeout ?? timeoutMs, signal });

  tool(
    'run_code',
    'Runs JavaScript or TypeScript as an ES module of Node in the sandbox, in a new process. Files stay in the session.',
    {
      input: {
        code: z.string().describe('The program. Output of console.log is returned.'),
        language: z.enum(['javascript', 'typescript']).optional(),
        args: z.array(z.string()).optional().describe('process.argv after its first entry.'),
        stdin: z.string().optional(),
        timeoutMs: TIMEOUT,
        session: SESSION,
      },
      output: PROGRAM_OUTPUT,
    },
    ({ code, language, args, stdin, timeoutMs: timeout, session }, signal) =>
      sessions.use(session, async (runtime) =>
        programResult(await runtime.exec(code, { language, args, stdin, ...programOptions(timeout, signal) })),
      ),
  );

  tool(
    'run_shell',
    'Runs a shell command in the sandbox: sh with the usual commands, node, pipes and redirections.',
    {
      input: {
        command: z.string(),
        cwd: z.string().optional(),
        stdin: z.string().optional(),
        timeoutMs: TIMEOUT,
        session: SESSION,
      },
      output: PROGRAM_OUTPUT,
    },
    ({ command, cwd, stdin, timeoutMs: timeout, session }, signal) =>
      sessions.use(session, async (runtime) =>
        programResult(await runtime.execCommand('sh', ['-c', command], { cwd, stdin, ...programOptions(timeout, signal) })),
      ),
  );

  tool(
    'write_file',
    'Writes a file in the sandbox. Replaces the present content and makes missing folders.',
    { input: { path: PATH, content: z.string(), session: SESSION }, output: { path: z.string(), bytes: z.number() } },
    ({ path, content, session }) =>
      sessions.use(session, async (runtime) => {
        await runtime.writeFile(path, content);
        return result({ path, bytes: Buffer.byteLength(content) });
      }),
  );

  tool(
    'read_file',
    'Reads a file of the sandbox as text. A file that is not UTF-8 is returned in base64.',
    {
      input: { path: PATH, session: SESSION },
      output: { path: z.string(), content: z.string(), encoding: z.enum(['utf8', 'base64']) },
      readOnly: true,
    },
    ({ path, session }) =>
      sessions.use(session, async (runtime) => {
        const bytes = Buffer.from(await runtime.readFile(path));
        const text = bytes.toString('utf8');
        const isText = Buffer.from(text, 'utf8').equals(bytes);
        const content = isText ? text : bytes.toString('base64');
        return result({ path, content, encoding: isText ? 'utf8' : 'base64' }, content);
      }),
  );

  tool(
    'list_files',
    'Lists the entries of a folder of the sandbox with their types.',
    {
      input: { path: z.string().optional().describe(`An absolute path, by default ${folder}.`), session: SESSION },
      output: { path: z.string(), entries: z.array(z.object({ name: z.string(), type: z.string() })) },
      readOnly: true,
    },
    ({ path = folder, session }) =>
      sessions.use(session, async (runtime) => {
        const entries = (await runtime.readDirWithTypes(path)).map(({ name, type }) => ({ name, type }));
        return result({ path, entries });
      }),
  );

  tool(
    'create_session',
    'Creates a session with a sandbox of its own, and returns its id.',
    { input: {}, output: { session: z.string() } },
    async () => result({ session: await sessions.create() }),
  );

  tool(
    'list_sessions',
    'Lists the live sessions.',
    { input: {}, output: { sessions: z.array(z.looseObject({})) }, readOnly: true },
    async () => result({ sessions: await sessions.list() }),
  );

  tool(
    'close_session',
    'Ends the programs of a session and deletes its files.',
    { input: { session: z.string() }, output: { closed: z.string() } },
    async ({ session }) => {
      await sessions.close(session);
      return result({ closed: session });
    },
  );

  tool(
    'clone_session',
    'Copies a session with its files and programs, and returns the id of the new session.',
    { input: { session: SESSION }, output: { session: z.string() } },
    async ({ session }) => result({ session: await sessions.clone(session) }),
  );

  tool(
    'take_snapshot',
    'Keeps the present state of a session: files, and the memory of running programs.',
    { input: { name: z.string().optional(), session: SESSION }, output: SNAPSHOT_OUTPUT.shape },
    ({ name, session }) => sessions.use(session, async (runtime) => result(snapshotOf(await runtime.snapshot({ name })))),
  );

  tool(
    'rollback_session',
    'Returns a session to the state of a snapshot.',
    { input: { snapshot: SNAPSHOT, session: SESSION }, output: { snapshot: z.string() } },
    ({ snapshot, session }) =>
      sessions.use(session, async (runtime) => {
        await runtime.rollback(snapshot);
        return result({ snapshot });
      }),
  );

  tool(
    'list_snapshots',
    'Lists the snapshots of all sessions, the newest first.',
    { input: { session: SESSION }, output: { snapshots: z.array(SNAPSHOT_OUTPUT) }, readOnly: true },
    ({ session }) =>
      sessions.use(session, async (runtime) => result({ snapshots: (await runtime.snapshots.list()).map(snapshotOf) })),
  );

  return pending;
}

function snapshotOf(snapshot: { id: string; name?: string; size: number; programs: number; createdAt: Date }) {
  const { id, name, size, programs, createdAt } = snapshot;
  return { id, ...(name !== undefined && { name }), size, programs, createdAt: createdAt.toISOString() };
}
