// The TypeScript parts of classes: `abstract`, `implements`, modifiers of members, members without
// a body, marks after a name. Modifiers are read from the text, because the tree has no positions
// of modifiers. Next: strip.js.
'use strict';

const MODIFIERS = new Set(['public', 'private', 'protected', 'readonly', 'override']);
const NEEDS_SEMICOLON = new Set(['in', 'instanceof']);
const READ_AS_MODIFIER = new Set(['get', 'set', 'static']);

function classHead(node, text) {
  if (node.abstract) {
    const at = text.next(endOfDecorators(node));
    text.blank(at, at + 'abstract'.length);
  }
  if (!node.implements?.length) return;
  const last = text.previous(node.implements[0].start) + 1;
  text.blank(last - 'implements'.length, node.implements.at(-1).end);
}

const endOfDecorators = (node) => (node.decorators?.length ? node.decorators.at(-1).end : node.start);

function classMember(node, text) {
  const isField =
    node.type === 'PropertyDefinition' || node.type === 'AccessorProperty' || node.type === 'TSAbstractPropertyDefinition';
  if (node.abstract || node.type.startsWith('TSAbstract') || (isField ? node.declare : !node.value.body)) {
    text.blank(node.start, node.end);
    return true;
  }
  const start = text.next(endOfDecorators(node));
  const hasModifier = blankModifiers(start, node, text);
  const afterKey = text.next(node.key.end);
  const mark = node.computed ? text.next(afterKey + 1) : afterKey;
  if (node.optional || node.definite) text.blank(mark, mark + 1);
  const { key } = node;
  if (isField && !node.value && !node.computed && READ_AS_MODIFIER.has(key.name) && node.typeAnnotation)
    text.put(node.typeAnnotation.start, ';');
  const isHazard =
    node.computed || node.value?.generator === true || (key.type === 'Identifier' && NEEDS_SEMICOLON.has(key.name));
  if (hasModifier && isHazard && !node.static && !node.decorators?.length) text.put(start, ';');
  return false;
}

function blankModifiers(start, node, text) {
  let found = false;
  for (let at = start; at < node.key.start; ) {
    const word = text.word(at);
    const end = at + word.length;
    if (word === '' || (word !== 'static' && !MODIFIERS.has(word))) break;
    if (MODIFIERS.has(word)) {
      text.blank(at, end);
      found = true;
    }
    at = text.next(end);
  }
  return found;
}

module.exports = { classHead, classMember };
