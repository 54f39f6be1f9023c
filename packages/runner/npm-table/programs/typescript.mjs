// typescript: type-checking and printing a file.

import ts from 'typescript';

const files = {
  'main.ts':
    'interface Point { x: number; y?: string }\nconst p: Point = { x: "one" };\nexport function twice<T>(value: T): [T, T] { return [value, value]; }\nexport const n: string = twice(1)[0];\n',
  'lib.d.ts':
    'interface Array<T> { length: number; [n: number]: T }\ninterface Boolean {}\ninterface CallableFunction {}\ninterface Function {}\ninterface IArguments {}\ninterface NewableFunction {}\ninterface Number {}\ninterface Object {}\ninterface RegExp {}\ninterface String {}\n',
};
const host = {
  fileExists: (name) => name in files,
  readFile: (name) => files[name],
  getSourceFile: (name, target) => (name in files ? ts.createSourceFile(name, files[name], target) : undefined),
  getDefaultLibFileName: () => 'lib.d.ts',
  writeFile: (name, text) => console.log(`--- ${name}\n${text}`),
  getCurrentDirectory: () => '/',
  getCanonicalFileName: (name) => name,
  useCaseSensitiveFileNames: () => true,
  getNewLine: () => '\n',
};
const program = ts.createProgram(
  ['main.ts'],
  { strict: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, declaration: true, types: [] },
  host,
);
for (const { file, start, code, messageText } of ts.getPreEmitDiagnostics(program)) {
  const at = file ? file.getLineAndCharacterOfPosition(start) : undefined;
  console.log(code, at && `${at.line + 1}:${at.character + 1}`, ts.flattenDiagnosticMessageText(messageText, '\n'));
}
program.emit();
