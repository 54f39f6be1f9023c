// The routes of the tags of templates.

import { isTag, templateOf } from '../templates/references.js';
import type { Control, Routes } from './app.js';
import { ControlFailure } from './failure.js';
import { IdPath } from './schemas/sandboxes.js';
import { RemoveTagsBody, TagsBody } from './schemas/templates.js';

const tags = ['templates'];

/** Adds the routes. */
export function addTemplateTagRoutes(app: Routes, { registry }: Control): void {
  const assign = { body: TagsBody, tags, summary: 'Give tags to a build' };
  app.post('/templates/tags', { schema: assign }, ({ tenant, body }, reply) => {
    const names = body.tags.map(bareTag);
    const { template, reference } = templateOf(registry, tenant, body.target);
    const tagged = registry.templates.tags(template.id).find(({ tag }) => tag === reference.tag);
    if (tagged === undefined) throw new ControlFailure(404, `The template ${body.target} has no tag ${reference.tag}`);
    for (const tag of names) registry.templates.setTag(template.id, { tag, buildId: tagged.buildId, createdAt: Date.now() });
    return reply.code(201).send({ buildID: tagged.buildId, tags: names });
  });
  const remove = { body: RemoveTagsBody, tags, summary: 'Remove tags' };
  app.delete('/templates/tags', { schema: remove }, ({ tenant, body }, reply) => {
    const { template } = templateOf(registry, tenant, body.name);
    for (const tag of body.tags.map(bareTag)) registry.templates.removeTag(template.id, tag);
    return reply.code(204).send();
  });
  app.get('/templates/:id/tags', { schema: { params: IdPath, tags, summary: 'List tags' } }, ({ tenant, params }) => {
    const { template } = templateOf(registry, tenant, params.id);
    return registry.templates
      .tags(template.id)
      .map(({ tag, buildId, createdAt }) => ({ tag, buildID: buildId, createdAt: new Date(createdAt).toISOString() }));
  });
}

function bareTag(tag: string): string {
  if (!isTag(tag)) throw new ControlFailure(400, `${tag} is no tag: letters, digits, full stops, - and _`);
  return tag;
}
