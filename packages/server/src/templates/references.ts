// The names of templates as clients write them: `[namespace/]name[:tag]`. The namespace is the
// tenant. The name can be an id.

import type { BuildRecord, TemplateRecord } from '../registry/records.js';
import type { Registry } from '../registry/registry.js';
import { SandboxFailure } from '../sandboxes/failure.js';

/** The tag of references without a tag. */
export const DEFAULT_TAG = 'default';

/** A name of a template, and a tag. */
export interface Reference {
  name: string;
  tag: string;
  /** Whether the text has a tag. */
  hasTag: boolean;
}

/** A build that sandboxes can start from. */
export interface Built extends BuildRecord {
  snapshot: string;
}

const NAME = /^[a-z0-9_-]{1,128}$/i;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** Returns whether a text can be a tag. */
export const isTag = (text: string): boolean => TAG.test(text);

/** Returns the parts of a reference, or `undefined` for a reference of another form or tenant. */
export function referenceOf(tenant: string, text: string): Reference | undefined {
  const [, namespace, name = '', tag] = /^(?:([^/:]*)\/)?([^/:]*)(?::([^/:]*))?$/.exec(text) ?? [];
  if (!NAME.test(name) || (tag !== undefined && !TAG.test(tag))) return undefined;
  if (namespace !== undefined && namespace !== tenant) return undefined;
  return { name, tag: tag ?? DEFAULT_TAG, hasTag: tag !== undefined };
}

/** Returns the template of a reference. */
export function templateOf(registry: Registry, tenant: string, text: string): { template: TemplateRecord; reference: Reference } {
  const reference = referenceOf(tenant, text);
  const template = reference && registry.templates.find(tenant, reference.name);
  if (reference === undefined || template === undefined) {
    throw new SandboxFailure('template-not-found', `The template ${text} was not found`);
  }
  return { template, reference };
}

/** Returns the build of a reference, and the name that the reference has. */
export function buildOf(registry: Registry, tenant: string, text: string): { build: Built; alias: string | undefined } {
  const { template, reference } = templateOf(registry, tenant, text);
  const tagged = registry.templates.tags(template.id).find(({ tag }) => tag === reference.tag);
  const build = tagged && registry.templates.build(tagged.buildId);
  if (build === undefined) {
    throw new SandboxFailure('template-not-found', `The template ${text} was not found: it has no tag ${reference.tag}`);
  }
  if (build.snapshot === undefined) {
    throw new SandboxFailure('template-not-ready', `The build ${build.id} of the template ${text} is ${build.state}`);
  }
  return {
    build: { ...build, snapshot: build.snapshot },
    alias: reference.name === template.id ? template.name : reference.name,
  };
}
