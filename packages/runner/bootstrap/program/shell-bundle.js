// The compiled function of the shell's bundle, or undefined in an image without the shell. boot.js
// requires this file before all other files. Compiling the largest text leaves large free blocks.
// The files of Node's library then fill these blocks, so the image has no large free blocks. Next:
// shell.js.
'use strict';

const PARAMETERS = ['exports', 'require', 'module', 'process', 'Buffer'];

function compile() {
  const source = buildFile('shell.js');
  return source === undefined ? undefined : native.compileFunction(source, 'coldframe:shell.js', PARAMETERS);
}

module.exports = { body: compile() };
