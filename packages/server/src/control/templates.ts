// The routes of templates.

import { BASE } from '../sandboxes/base.js';
import type { Control, Routes } from './app.js';
import { ControlFailure } from './failure.js';
import { IdPath } from './schemas.js';

/** Adds the routes. */
export function addTemplateRoutes(app: Routes, { registry, sandboxes }: Control): void {
  app.get('/templates/aliases/:id', { schema: { params: IdPath } }, ({ tenant, params }) => {
    const known = params.id === BASE ? BASE : registry.template(tenant, params.id)?.id;
    if (known === undefined) throw new ControlFailure(404, `The template ${params.id} was not found`);
    return { templateID: known, public: false };
  });
  app.delete('/templates/:id', { schema: { params: IdPath } }, async ({ tenant, params }, reply) => {
    const reference = params.id.replace(/^default\//, '').replace(/:default$/, '');
    if (!(await sandboxes.deleteSnapshot(tenant, reference)))
      throw new ControlFailure(404, `The template ${params.id} was not found`);
    return reply.code(204).send();
  });
}
