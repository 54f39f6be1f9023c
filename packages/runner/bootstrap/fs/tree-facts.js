// The facts about paths that the operations on trees need. Next: trees.js and copies.js.
'use strict';

const { NUMBERS, sys } = require('./calls.js');
const { isFailure } = require('./answers.js');

const FIELDS = 18;
const MODE = 1;
const TYPES = { mask: 0o170000, directory: 0o040000, link: 0o120000, file: 0o100000, socket: 0o140000, pipe: 0o010000 };

function statOf(path, follow) {
  const values = new Float64Array(FIELDS);
  const result = sys(NUMBERS.stat, path, values, follow ? 1 : 0);
  return result < 0 ? result : values;
}

const typeOf = (stats) => (isFailure(stats) ? 0 : stats[MODE] & TYPES.mask);
const isDirectory = (path) => typeOf(statOf(path, true)) === TYPES.directory;
const parentOf = (path) => {
  const trimmed = path.replace(/(?<=.)\/+$/, '');
  const at = trimmed.lastIndexOf('/');
  return at <= 0 ? (at === 0 ? '/' : '.') : trimmed.slice(0, at);
};
const join = (folder, name) => (folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`);

module.exports = { TYPES, MODE, statOf, typeOf, isDirectory, parentOf, join };
