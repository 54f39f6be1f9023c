// The pending requests of this process, for `process._getActiveRequests` and
// `process.getActiveResourcesInfo`. Next: ../fs/answers.js, which adds requests;
// ../internal-bindings/process_methods.js, which reports them.
'use strict';

const active = new Set();

const begin = (request) => active.add(request);
const end = (request) => active.delete(request);
const list = () => [...active];

module.exports = { begin, end, list };
