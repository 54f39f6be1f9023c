// The order of the pages in the navigation, and the route of each page. check-pages.mjs reports a
// page that is missing in the sidebar.

const page = (text, link) => ({ text, link });

/** Returns the path of a page on the site, from the path of its file in docs/. */
export function routeOf(file) {
  // The file index.md is the landing page. GitHub shows README.md for a folder.
  if (file === 'README.md') return 'documents.md';
  return file.replace(/(^|\/)README\.md$/, '$1index.md');
}

const guides = [
  page('All guides', '/guide/'),
  page('Use the E2B SDK', '/guide/e2b-sdk'),
  page('Run code that a model wrote', '/guide/model-code'),
  page('Evaluate code in a loop', '/guide/evaluation-loop'),
  page('Show a preview', '/guide/previews'),
  page('Show a terminal', '/guide/terminals'),
  page('Offer tools to agents', '/guide/agent-tools'),
  page('Prepare once with a snapshot', '/guide/snapshots'),
  page('Choose limits', '/guide/limits'),
  page('Keep secrets in the app', '/guide/secrets'),
];

const recipes = [
  page('All recipes', '/recipes/'),
  page('Vercel AI SDK', '/recipes/ai-sdk'),
  page('OpenAI', '/recipes/openai'),
  page('Anthropic', '/recipes/anthropic'),
  page('LangChain', '/recipes/langchain'),
  page('Mastra', '/recipes/mastra'),
];

const start = [
  page('Installation', '/installation'),
  page('The command', '/command'),
  page('Hosts', '/hosts'),
  page('Bundlers', '/bundlers'),
  page('From secure-exec', '/migrating-from-secure-exec'),
];

const topics = [
  page('Commands of the shell', '/shell-commands'),
  page('Limits', '/limits'),
  page('Permissions', '/permissions'),
  page('Users', '/users'),
  page('Outside connections', '/network'),
  page('Private networks', '/private-networks'),
  page('Secrets', '/secrets'),
  page('Snapshots', '/snapshots'),
  page('Pools and idle runtimes', '/pools'),
  page('The server', '/server'),
  page("E2B's clients", '/e2b-compatibility'),
  page('Errors', '/errors'),
  page('Node compatibility', '/node-compatibility'),
  page('Python', '/python'),
  page('Conformance of Python', '/python-conformance'),
  page('Threat model', '/threat-model'),
  page('The wall', '/walls'),
  page('Security testing', '/security-testing'),
  page('Specification', '/specification'),
];

const api = [
  page('Overview', '/api/'),
  page('Runtimes', '/api/runtime'),
  page('Programs', '/api/programs'),
  page('Packages of Python', '/api/python'),
  page('Terminals', '/api/terminals'),
  page('Checks of code', '/api/check'),
  page('Resident runners', '/api/runners'),
  page('Files', '/api/files'),
  page('Mounts', '/api/mounts'),
  page('Network', '/api/network'),
  page('Private networks', '/api/private-networks'),
  page('Secrets of a runtime', '/api/secrets'),
  page('Bindings', '/api/bindings'),
  page('Permissions', '/api/permissions'),
  page('Snapshots', '/api/snapshots'),
  page('Pools', '/api/pools'),
  page('Sidecars', '/api/sidecar'),
  page('Servers of MCP', '/api/mcp'),
  page('Timings', '/api/timings'),
  page('Errors', '/api/errors'),
];

const internals = [
  page('All documents', '/documents'),
  page('Design', '/design'),
  page('Glossary', '/glossary'),
  page('Protocol', '/internals/protocol'),
  page('Terminals of the server', '/internals/terminal'),
  page('Guest ABI', '/internals/guest-abi'),
  page('Libraries of the guest', '/internals/libraries'),
  page('Processes', '/internals/processes'),
  page('Threads that must not wait', '/internals/threads'),
  page('Snapshots, from below', '/internals/snapshots'),
  page('Saved files', '/internals/saved-files'),
  page('Differential tests', '/internals/differential'),
  page('Upgrading Node or the engine', '/internals/upgrading'),
];

export const navigation = [
  { text: 'Guides', link: '/guide/', activeMatch: '^/guide/' },
  { text: 'Recipes', link: '/recipes/', activeMatch: '^/recipes/' },
  { text: 'API', link: '/api/', activeMatch: '^/api/' },
  { text: 'Changes', link: 'https://github.com/coldframe/coldframe/blob/main/CHANGELOG.md' },
];

export const sidebar = [
  { text: 'Start', collapsed: false, items: start },
  { text: 'Guides', collapsed: false, items: guides },
  { text: 'Recipes', collapsed: false, items: recipes },
  { text: 'Topics', collapsed: false, items: topics },
  { text: 'API', collapsed: false, items: api },
  { text: 'For contributors', collapsed: true, items: internals },
];
