// The facts that the build read from the real Node (build/locale-dump.cjs). Next: collate.js and
// zone-names.js, which use the facts.
'use strict';

module.exports = JSON.parse(buildFile('lib/locale.json'));
