// The worker thread of `check()`: calls the compiler, and sends the diagnostics. Next: task.ts.

import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type * as TypeScript from 'typescript-5';
import type { CheckTask, Diagnostic } from './task.js';

/** The names that the sandbox adds to Node's globals. */
const GLOBALS = `
declare function __return(value: unknown): void;
declare function callBinding<T = unknown>(name: string, input?: unknown): Promise<T>;
`;

const { code, language, typescript, nodeTypes } = workerData as CheckTask;
const ts = createRequire(typescript)(typescript) as typeof TypeScript;

const PROGRAM = `/program.${language === 'typescript' ? 'mts' : 'mjs'}`;
const DECLARATIONS = '/sandbox.d.ts';
// The empty export makes the code an ES module for the compiler, on the last line.
const TEXTS = new Map([
  [PROGRAM, `${code}\nexport {};`],
  [DECLARATIONS, GLOBALS],
]);

function optionsOf(): TypeScript.CompilerOptions {
  return {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: language === 'typescript',
    // A program for a sandbox often has an argument that it does not use.
    noImplicitAny: false,
    allowJs: true,
    checkJs: true,
    noEmit: true,
    // The syntax needs no declarations.
    noLib: nodeTypes === undefined,
    skipLibCheck: true,
    // The types of Node are the only package that the code can see.
    types: nodeTypes === undefined ? [] : [basename(dirname(nodeTypes))],
    typeRoots: nodeTypes === undefined ? [] : [dirname(dirname(nodeTypes))],
  };
}

function programOf(options: TypeScript.CompilerOptions): TypeScript.Program {
  const host = ts.createCompilerHost(options, true);
  const { fileExists, readFile } = host;
  // The compiler reads declarations of TypeScript and of the types of Node, and no file that the
  // code names.
  const roots = [dirname(typescript), ...(nodeTypes === undefined ? [] : [dirname(dirname(dirname(nodeTypes)))])];
  const isAllowed = (path: string): boolean => roots.some((root) => path.startsWith(`${root}/`));
  host.fileExists = (path) => TEXTS.has(path) || (isAllowed(path) && fileExists.call(host, path));
  host.readFile = (path) => TEXTS.get(path) ?? (isAllowed(path) ? readFile.call(host, path) : undefined);
  host.getSourceFile = (path, version) => {
    const text = host.readFile(path);
    return text === undefined ? undefined : ts.createSourceFile(path, text, version, true);
  };
  // The targets of links are outside the allowed folders.
  host.realpath = (path) => path;
  host.getCurrentDirectory = () => '/';
  return ts.createProgram({ rootNames: [DECLARATIONS, PROGRAM], options, host });
}

/** The compiler cannot find packages and files of the sandbox. */
const UNKNOWN_MODULE = new Set([2307, 7016, 2792, 1479]);

function diagnose(): Diagnostic[] {
  const program = programOf(optionsOf());
  const source = program.getSourceFile(PROGRAM);
  const syntax = program.getSyntacticDiagnostics(source);
  const semantic = nodeTypes === undefined || syntax.length > 0 ? [] : program.getSemanticDiagnostics(source);
  const own = [...syntax, ...semantic].filter(({ code: number }) => !UNKNOWN_MODULE.has(number));
  return own.map(({ code: number, messageText, file, start = 0 }) => {
    const { line, character } = file?.getLineAndCharacterOfPosition(start) ?? { line: 0, character: 0 };
    return {
      code: `TS${number}`,
      message: ts.flattenDiagnosticMessageText(messageText, '\n'),
      line: line + 1,
      column: character + 1,
    };
  });
}

parentPort?.postMessage(diagnose());
