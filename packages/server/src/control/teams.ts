// The routes that the clients' command reads: the teams of a key, which are tenants here.

import type { Control, Routes } from './app.js';

const tags = ['teams'];

/** Adds the routes. */
export function addTeamRoutes(app: Routes, { registry, quotas }: Control): void {
  app.get('/teams', { schema: { tags, summary: 'List the tenants of a key' } }, ({ tenant }) => [
    // A client uses the key that it has sent.
    { teamID: tenant, name: tenant, apiKey: '', isDefault: true },
  ]);
  app.get('/auth/whoami', { schema: { tags, summary: 'Describe the key' } }, ({ caller, tenant }) => ({
    tenant,
    scopes: caller.scopes,
  }));
  app.get('/quota', { schema: { tags, summary: 'The bounds and the use of the tenant' } }, ({ tenant }) => ({
    quota: quotas.of(tenant),
    use: {
      ...registry.sandboxes.count(tenant),
      templates: registry.templates.count(tenant),
      volumes: registry.volumes.list(tenant).length,
    },
  }));
}
