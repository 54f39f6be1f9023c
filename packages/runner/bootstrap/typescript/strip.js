// Visits the syntax tree of a TypeScript program and blanks the parts that are only types. Parts
// that would need code of their own (enums, namespaces with values, parameter properties) are
// reported instead. One table lists the node types with TypeScript parts; of other nodes, only the
// children are visited. Next: members.js for classes, hazards.js and grouping.js for the places
// where a blank changes the meaning of the code after it.
'use strict';

const { blankStatement, endsInExpression, fixArrow, fixArrowArgument } = require('./hazards.js');
const { changesGrouping, GROUPING } = require('./grouping.js');
const { classHead, classMember } = require('./members.js');

const UNSUPPORTED = {
  __proto__: null,
  TSEnumDeclaration: 'TypeScript enum is not supported in strip-only mode',
  TSModuleDeclaration: 'TypeScript namespace declaration is not supported in strip-only mode',
  TSParameterProperty: 'TypeScript parameter property is not supported in strip-only mode',
  TSImportEqualsDeclaration: 'TypeScript import equals declaration is not supported in strip-only mode',
  TSExportAssignment: 'TypeScript export assignment is not supported in strip-only mode',
  TSTypeAssertion:
    'The angle-bracket syntax for type assertions, `<T>expr`, is not supported in type strip mode. ' +
    "Instead, use the 'as' syntax: `expr as T`.",
};

// Returns whether a statement declares only types.
function isOnlyType(node) {
  switch (node?.type) {
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
    case 'TSDeclareFunction':
      return true;
    case 'TSModuleDeclaration':
      return node.declare === true || node.id.type === 'Literal' || hasOnlyTypes(node.body);
    default:
      return node?.declare === true;
  }
}

// Returns whether a namespace contains no value.
function hasOnlyTypes(body) {
  if (body?.type === 'TSModuleDeclaration') return hasOnlyTypes(body.body);
  return body?.body.every((item) => {
    const statement = item.type === 'ExportNamedDeclaration' && item.declaration ? item.declaration : item;
    if (statement.type === 'TSModuleDeclaration') return hasOnlyTypes(statement.body);
    return statement.type === 'TSInterfaceDeclaration' || statement.type === 'TSTypeAliasDeclaration';
  });
}

const isTypeKind = (node) => node.importKind === 'type' || (node.exportKind === 'type' && !node.declaration);

const bodyOf = ['consequent', 'alternate', 'body'];

// Node type → the function that runs before the node's children are visited. If the function
// returns `true`, the children are not visited.
const VISIT = {
  __proto__: null,
  ImportDeclaration: importOrExport,
  ExportAllDeclaration: importOrExport,
  ExportNamedDeclaration: importOrExport,
  ExportDefaultDeclaration: importOrExport,
  TSImportEqualsDeclaration: (node, text) => isTypeKind(node) && blankStatement(node, text),
  TSTypeAnnotation: (node, text) => text.blank(node.start, node.end) ?? true,
  TSTypeParameterDeclaration: (node, text) => text.blank(node.start, node.end) ?? true,
  TSTypeParameterInstantiation: (node, text) => text.blank(node.start, node.end) ?? true,
  TSIndexSignature: (node, text) => text.blank(node.start, node.end) ?? true,
  TSAsExpression: assertion,
  TSSatisfiesExpression: assertion,
  TSInstantiationExpression(node, text) {
    text.blank(node.expression.end, node.end);
  },
  TSNonNullExpression(node, text) {
    text.blank(node.end - 1, node.end);
  },
  ArrowFunctionExpression: fixArrow,
  ReturnStatement: fixArrowArgument,
  ThrowStatement: fixArrowArgument,
  YieldExpression: fixArrowArgument,
  FunctionDeclaration: thisParameter,
  FunctionExpression: thisParameter,
  VariableDeclarator(node, text) {
    if (node.definite) blankMark(node.id, text);
  },
  Identifier: optional,
  ArrayPattern: optional,
  ObjectPattern: optional,
  ClassDeclaration: classHead,
  ClassExpression: classHead,
  MethodDefinition: classMember,
  PropertyDefinition: classMember,
  AccessorProperty: classMember,
  TSAbstractMethodDefinition: classMember,
  TSAbstractPropertyDefinition: classMember,
};

function importOrExport(node, text, walk) {
  if (isTypeKind(node) || isOnlyType(node.declaration)) return blankStatement(node, text);
  if (!node.specifiers) return false;
  for (const specifier of node.specifiers) {
    if (!isTypeKind(specifier)) continue;
    const after = text.next(specifier.end);
    text.blank(specifier.start, text.at(after) === ',' ? after + 1 : specifier.end);
  }
  if (node.declaration) walk(node.declaration);
  return true;
}

function assertion(node, text) {
  text.blank(node.expression.end, node.end);
  const isConst = node.typeAnnotation.typeName?.name === 'const';
  if (!isConst) endsInExpression(text.next(node.expression.end), node.end, text);
}

function thisParameter(node, text) {
  const first = node.params[0];
  if (first?.type !== 'Identifier' || first.name !== 'this') return;
  const after = text.next(first.end);
  text.blank(first.start, text.at(after) === ',' ? after + 1 : first.end);
}

// Blanks the `?` or `!` between a name and its type.
function blankMark(node, text) {
  const at = text.previous(node.typeAnnotation?.start ?? node.end);
  if (text.at(at) === '?' || text.at(at) === '!') text.blank(at, at + 1);
}

function optional(node, text) {
  if (node.optional) blankMark(node, text);
}

const SKIPPED = new Set(['type', 'start', 'end', 'loc', 'implements']);

// Node's stripper keeps `<const>x`, which V8 then refuses.
const isLeftToEngine = (node) => node.type === 'TSTypeAssertion' && node.typeAnnotation.typeName?.name === 'const';

// Blanks the types of a program. Calls `refuse(node, message)` for other TypeScript syntax.
function strip(program, text, refuse) {
  const walk = (node) => {
    if (isOnlyType(node) && node.type !== 'PropertyDefinition') {
      blankStatement(node, text);
      return;
    }
    if (isLeftToEngine(node)) return;
    if (changesGrouping(node, text)) refuse(node, GROUPING);
    if (VISIT[node.type]?.(node, text, walk)) return;
    if (UNSUPPORTED[node.type] !== undefined) {
      const parameter = node.parameter ?? node;
      refuse({ start: (parameter.left ?? parameter).start, end: parameter.end }, UNSUPPORTED[node.type]);
      return;
    }
    if (node.type === 'TSAsExpression' || node.type === 'TSSatisfiesExpression' || node.type === 'TSInstantiationExpression') {
      walk(node.expression);
      return;
    }
    for (const key in node) {
      if (SKIPPED.has(key)) continue;
      const child = node[key];
      if (Array.isArray(child)) {
        for (const item of child) if (typeof item?.type === 'string') walk(item);
      } else if (typeof child?.type === 'string') {
        walk(child);
      }
    }
    if (bodyOf.some((key) => node[key] && isOnlyType(node[key])))
      for (const key of bodyOf) if (isOnlyType(node[key])) text.put(node[key].start, ';');
  };
  walk(program);
}

module.exports = { strip };
