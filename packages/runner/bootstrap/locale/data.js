// What: what the build has read out of the real Node (build/locale-dump.cjs). Next: collate.js and zone-names.js, which use it.
'use strict';

module.exports = JSON.parse(buildFile('lib/locale.json'));
