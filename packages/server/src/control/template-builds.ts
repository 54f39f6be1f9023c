// The routes that build templates, in the three versions that clients use.

import type { BuildRecord, TemplateRecord } from '../registry/records.js';
import { isBase } from '../sandboxes/base.js';
import type { BuildPlan } from '../templates/builder.js';
import { planOf } from '../templates/dockerfile.js';
import type { BuildLine } from '../templates/logs.js';
import { isTag, referenceOf, templateOf } from '../templates/references.js';
import type { Control, Routes } from './app.js';
import { ControlFailure } from './failure.js';
import { IdPath } from './schemas/sandboxes.js';
import {
  BuildBody,
  BuildLogsQuery,
  BuildPath,
  DockerfileBody,
  FilesPath,
  lineResponse,
  NewTemplateBody,
  OldTemplateBody,
  requestedResponse,
  StatusQuery,
  templateResponse,
} from './schemas/templates.js';
import { uploadPath } from './uploads.js';

const tags = ['templates'];
const LEVELS = ['debug', 'info', 'warn', 'error'];

/** Adds the routes. */
export function addTemplateBuildRoutes(app: Routes, control: Control): void {
  const { registry, builder, uploadKey, stated } = control;
  /** The plans of builds that an older client has described before their start. */
  const described = new Map<string, BuildPlan>();

  const request = (tenant: string, text: string, given: readonly string[]) => {
    const reference = referenceOf(tenant, text);
    if (reference === undefined)
      throw new ControlFailure(400, `${text} is no name of a template: letters, digits, - and _, with or without a tag`);
    if (isBase(reference.name)) throw new ControlFailure(403, `The template ${reference.name} belongs to the server`);
    const wrong = given.find((tag) => !isTag(tag));
    if (wrong !== undefined) throw new ControlFailure(400, `${wrong} is no tag`);
    const all = [...new Set(reference.hasTag || given.length === 0 ? [reference.tag, ...given] : given)];
    return { ...builder.request(tenant, reference.name, all), tags: all };
  };
  const buildIn = (tenant: string, id: string, buildId: string): { template: TemplateRecord; build: BuildRecord } => {
    const { template } = templateOf(registry, tenant, id);
    const build = registry.templates.build(buildId);
    if (build?.templateId !== template.id) throw new ControlFailure(404, `The build ${buildId} was not found`);
    return { template, build };
  };
  const start = (tenant: string, build: BuildRecord, plan: BuildPlan): void => {
    if (build.state !== 'waiting') throw new ControlFailure(400, `The build ${build.id} is ${build.state} already`);
    builder.start(tenant, build, plan);
  };

  const third = { body: NewTemplateBody, tags, summary: 'Begin a build of a template' };
  app.post('/v3/templates', { schema: third }, ({ tenant, body }, reply) => {
    const name = body.name ?? body.alias;
    if (name === undefined) throw new ControlFailure(400, 'name is required');
    const made = request(tenant, name, body.tags);
    return reply.code(202).send(requestedResponse(made.template, made.build, made.tags));
  });
  const second = { body: OldTemplateBody, tags, summary: 'Begin a build of a template' };
  app.post('/v2/templates', { schema: second }, ({ tenant, body }, reply) => {
    const { template, build } = request(tenant, body.alias, []);
    return reply
      .code(202)
      .send({ ...templateResponse(template, registry.templates.builds(template.id), stated), buildID: build.id });
  });
  const first = { body: DockerfileBody, tags, summary: 'Begin a build of a template from a Dockerfile' };
  const begin = (
    tenant: string,
    name: string,
    body: { dockerfile: string; startCmd?: string | null | undefined; readyCmd?: string | null | undefined },
  ) => {
    const { template, build } = request(tenant, name, []);
    const plan = planOf(body.dockerfile);
    described.set(build.id, { ...plan, startCmd: body.startCmd ?? plan.startCmd, readyCmd: body.readyCmd ?? undefined });
    return { ...templateResponse(template, registry.templates.builds(template.id), stated), buildID: build.id };
  };
  app.post('/templates', { schema: first }, ({ tenant, body }, reply) =>
    reply.code(202).send(begin(tenant, body.alias ?? `template-${Date.now().toString(36)}`, body)),
  );
  app.post('/templates/:id', { schema: { ...first, params: IdPath } }, ({ tenant, params, body }, reply) => {
    const { template } = templateOf(registry, tenant, params.id);
    return reply.code(202).send(begin(tenant, template.name ?? template.id, body));
  });
  app.post(
    '/templates/:id/builds/:build',
    { schema: { params: BuildPath, tags, summary: 'Start a build' } },
    ({ tenant, params }, reply) => {
      const { build } = buildIn(tenant, params.id, params.build);
      const plan = described.get(build.id);
      if (plan === undefined) throw new ControlFailure(400, `The build ${build.id} has no Dockerfile`);
      described.delete(build.id);
      start(tenant, build, plan);
      return reply.code(202).send();
    },
  );
  const steps = { params: BuildPath, body: BuildBody, tags, summary: 'Start a build' };
  app.post('/v2/templates/:id/builds/:build', { schema: steps }, ({ tenant, params, body }, reply) => {
    const { build } = buildIn(tenant, params.id, params.build);
    start(tenant, build, {
      fromImage: body.fromImage ?? undefined,
      fromTemplate: body.fromTemplate ?? undefined,
      force: body.force ?? false,
      steps: body.steps.map((step) => ({ ...step, filesHash: step.filesHash ?? undefined, force: step.force ?? false })),
      startCmd: body.startCmd ?? undefined,
      readyCmd: body.readyCmd ?? undefined,
    });
    return reply.code(202).send();
  });

  const files = { params: FilesPath, tags, summary: 'A link for the upload of the files of a step' };
  app.get(
    '/templates/:id/files/:hash',
    { schema: files, config: { scope: 'exec' } },
    ({ tenant, params, protocol, host }, reply) => {
      templateOf(registry, tenant, params.id);
      const present = registry.templates.upload(tenant, params.hash) !== undefined;
      const url = `${protocol}://${host}${uploadPath(uploadKey, tenant, params.hash)}`;
      // A client uploads again if it wants, also files that are present.
      return reply.code(201).send({ present, url });
    },
  );
  const status = { params: BuildPath, querystring: StatusQuery, tags, summary: 'The state and the lines of a build' };
  app.get('/templates/:id/builds/:build/status', { schema: status }, ({ tenant, params, query }) => {
    const { template, build } = buildIn(tenant, params.id, params.build);
    const lines = builder.logs
      .of(build.id)
      .filter(atLeast(query.level))
      .slice(query.logsOffset, query.logsOffset + query.limit);
    return {
      templateID: template.id,
      buildID: build.id,
      status: build.state,
      logEntries: lines.map(lineResponse),
      logs: lines.map(({ message }) => message),
      ...(build.failure === undefined ? {} : { reason: { ...build.failure, logEntries: [] } }),
    };
  });
  const logs = { params: BuildPath, querystring: BuildLogsQuery, tags, summary: 'The lines of a build' };
  app.get('/templates/:id/builds/:build/logs', { schema: logs }, ({ tenant, params, query }) => {
    const { build } = buildIn(tenant, params.id, params.build);
    const { cursor, direction, limit, level } = query;
    const isForward = direction === 'forward';
    const lines = builder.logs.of(build.id).filter(atLeast(level));
    const behind = lines.filter(({ at }) => cursor === undefined || (isForward ? at >= cursor : at <= cursor));
    return { logs: (isForward ? behind : behind.reverse()).slice(0, limit).map(lineResponse) };
  });
}

const atLeast =
  (level = 'debug') =>
  (line: BuildLine): boolean =>
    LEVELS.indexOf(line.level) >= LEVELS.indexOf(level);
