// The routes of the code interpreter, which clients reach at a port of every sandbox. The front has
// found the sandbox of each request. Next: `contexts.ts`.

import { isColdframeError } from 'coldframe';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { z } from 'zod';
import { callOf } from '../envd/context.js';
import { HOME } from '../sandboxes/base.js';
import { type Context, type Contexts, contextsOf, TooManyContexts } from './contexts.js';
import { execute } from './execution.js';
import { languageOf } from './languages.js';

/** The port of the code interpreter of every sandbox. */
export const INTERPRETER_PORT = 49_999;

/** The largest request in bytes. */
const BODY_BYTES = 16 << 20;

const NAME = z.string().min(1).max(100);
const NewContext = z.object({
  language: NAME.nullish(),
  cwd: z
    .string()
    .regex(/^\/[^\0]{0,4095}$/, 'an absolute path')
    .nullish(),
});
const Execute = z.object({
  code: z.string(),
  context_id: z.string().nullish(),
  language: NAME.nullish(),
  env_vars: z.record(z.string().regex(/^[^=\0]+$/), z.string().regex(/^[^\0]*$/)).nullish(),
});

/** A request that is answered with a status and a text. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Makes the interpreter. The caller passes requests to `interpreter.routing`. */
export async function createInterpreter(): Promise<FastifyInstance> {
  const interpreter = Fastify({ bodyLimit: BODY_BYTES });
  // Clients send the content type also with requests without a body.
  interpreter.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(String(body)));
    } catch {
      done(new Refusal(400, 'The body is not JSON'), undefined);
    }
  });
  interpreter.setErrorHandler((error, _, reply) => refuse(reply, error));
  interpreter.setNotFoundHandler((_, reply) => refuse(reply, new Refusal(404, 'Not Found')));
  interpreter.get('/health', () => '"OK"');
  interpreter.get('/contexts', async ({ raw }) => (await contextsOfCall(raw)).list());
  interpreter.post('/contexts', async ({ raw, body }) => {
    const { language, cwd } = checked(NewContext, body ?? {});
    const contexts = await contextsOfCall(raw);
    const folder = cwd ?? HOME;
    await assertDirectory(raw, folder);
    const created = await contexts.create(languageOf(language), folder);
    return { id: created.id, language: created.language, cwd: created.cwd };
  });
  interpreter.delete<{ Params: { id: string } }>('/contexts/:id', async ({ raw, params }, reply) => {
    const contexts = await contextsOfCall(raw);
    await contexts.remove(found(contexts, params.id));
    return reply.type('application/json').send('null');
  });
  interpreter.post<{ Params: { id: string } }>('/contexts/:id/restart', async ({ raw, params }, reply) => {
    await found(await contextsOfCall(raw), params.id).end();
    return reply.type('application/json').send('null');
  });
  interpreter.post('/execute', async ({ raw, body }, reply) => {
    const { code, context_id: id, language, env_vars: env } = checked(Execute, body);
    if (id && language) throw new Refusal(400, 'Only one of context_id or language can be provided');
    const contexts = await contextsOfCall(raw);
    const context = id ? found(contexts, id) : await contexts.defaultOf(languageOf(language));
    reply.hijack();
    await execute(contexts, context, { code, env: env ?? undefined }, reply.raw);
    return reply;
  });
  await interpreter.ready();
  return interpreter;
}

type Raw = Parameters<typeof callOf>[0];

function contextsOfCall(request: Raw): Promise<Contexts> {
  const { sandbox, record } = callOf(request);
  return contextsOf(sandbox, record.env);
}

function found(contexts: Contexts, id: string): Context {
  const context = contexts.find(id);
  if (context === undefined) throw new Refusal(404, `Context ${id} not found`);
  return context;
}

function checked<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new Refusal(400, z.prettifyError(parsed.error));
  return parsed.data;
}

async function assertDirectory(request: Raw, path: string): Promise<void> {
  try {
    const { type } = await callOf(request).sandbox.runtime.stat(path);
    if (type === 'directory') return;
  } catch (error) {
    if (!isColdframeError(error) || !/^ENO(?:ENT|TDIR)$/.test(error.code)) throw error;
  }
  throw new Refusal(400, `The directory ${path} does not exist`);
}

function refuse(reply: FastifyReply, error: unknown): void {
  const { message } = error instanceof Error ? error : { message: String(error) };
  reply.code(statusOf(error)).type('text/plain; charset=utf-8').send(message);
}

function statusOf(error: unknown): number {
  if (error instanceof Refusal) return error.status;
  if (error instanceof TooManyContexts) return 400;
  const status = (error as { statusCode?: unknown } | undefined)?.statusCode;
  return typeof status === 'number' && status >= 400 ? status : 500;
}
