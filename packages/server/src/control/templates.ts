// The routes of templates.

import { BASE, isBase } from '../sandboxes/base.js';
import { removeTemplate } from '../sandboxes/checkpoints.js';
import { templateOf } from '../templates/references.js';
import type { Control, Routes } from './app.js';
import { cursorOf, pageOf } from './cursor.js';
import { ControlFailure } from './failure.js';
import { IdPath } from './schemas/sandboxes.js';
import { buildResponse, namesOf, TemplatesQuery, templateResponse, UpdateTemplateBody } from './schemas/templates.js';

const tags = ['templates'];

/** Adds the routes. */
export function addTemplateRoutes(app: Routes, control: Control): void {
  const { registry, stated } = control;
  const list = { querystring: TemplatesQuery, tags, summary: 'List templates' };
  for (const path of ['/templates', '/v2/templates']) {
    app.get(path, { schema: list }, ({ tenant, query }, reply) => {
      const after = cursorOf(query.nextToken);
      const found = registry.templates.list({ tenant, kind: 'template', limit: query.limit + 1, after });
      const { page, next } = pageOf(found, query.limit, ({ createdAt: at, id }) => ({ at, id }));
      if (next !== undefined) reply.header('x-next-token', next);
      return reply.send(page.map((template) => templateResponse(template, registry.templates.builds(template.id), stated)));
    });
  }
  app.get('/templates/:id', { schema: { params: IdPath, tags, summary: 'Describe a template' } }, ({ tenant, params }) => {
    const { template } = templateOf(registry, tenant, params.id);
    const builds = registry.templates.builds(template.id);
    return { ...templateResponse(template, builds, stated), builds: builds.map((build) => buildResponse(build, stated)) };
  });
  const alias = { params: IdPath, tags, summary: 'Find a template by its name' };
  app.get('/templates/aliases/:id', { schema: alias }, ({ tenant, params }) => {
    if (isBase(params.id)) return { templateID: BASE, public: true };
    return { templateID: templateOf(registry, tenant, params.id).template.id, public: false };
  });
  // A template is never public, because its snapshots belong to one tenant.
  const update = { params: IdPath, body: UpdateTemplateBody, tags, summary: 'Change a template' };
  for (const path of ['/templates/:id', '/v2/templates/:id']) {
    app.patch(path, { schema: update }, ({ tenant, params, body }) => {
      const { template } = templateOf(registry, tenant, params.id);
      if (body.public === true) throw new ControlFailure(400, 'A template cannot be public: each tenant has its own templates');
      return { names: namesOf(template) };
    });
  }
  const remove = { params: IdPath, tags, summary: 'Delete a template or a snapshot' };
  app.delete('/templates/:id', { schema: remove }, async ({ tenant, params }, reply) => {
    if (!(await removeTemplate(control, tenant, params.id))) {
      throw new ControlFailure(404, `The template ${params.id} was not found`);
    }
    return reply.code(204).send();
  });
}
