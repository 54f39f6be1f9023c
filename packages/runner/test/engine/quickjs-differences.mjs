// Test files of QuickJS-ng that end differently on the patched engine, each with its reason. A file that is not here and differs is a bug.
const ATOMICS = 'the unpatched engine has no Atomics under WASI; patch 76-atomics gives them';
const TEXTS = 'the file asserts message texts; ours are those of V8 (patches 88 to 96)';

export const DIFFERENT = {
  'atomics-store-leak.js': ATOMICS,
  'bug1301.js': ATOMICS,
  'bug1302.js': ATOMICS,
  'bug1498.js': TEXTS,
  'bug1591.js': TEXTS,
  'null_or_undefined.js': TEXTS,
  'bug652.js':
    "expects a WeakRef's target to be gone within the job; the standard and V8 keep it until the job ends (99-kept-alive)",
  'callsite-isconstructor.js':
    'expects Error.prepareStackTrace to run when the error is made; V8 runs it when the stack is read (30-error-stack)',
  'import-attributes-identity.js': "tests the module loader of the engine's own shell, which neither side has",
  'parse-error-column.js': 'expects a frame for the place of a syntax error in eval; V8 has none (30-error-stack)',
  'test_bjson.js': "needs the shell's qjs:bjson; both say that it is missing, at a place of the loader that is theirs",
};
