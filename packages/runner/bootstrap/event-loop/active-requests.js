// What: the requests that are under way in this process, for `process._getActiveRequests` and `process.getActiveResourcesInfo`.
// Next: fs/answers.js, which enters them; bindings/process_methods.js, which tells of them.
'use strict';

const active = new Set();

const begin = (request) => active.add(request);
const end = (request) => active.delete(request);
const list = () => [...active];

module.exports = { begin, end, list };
