// Test files of QuickJS-ng that end differently on the patched engine, each with its reason. A
// difference of another file is a bug.
const ATOMICS = 'the unpatched engine has no Atomics under WASI; the patch `atomics` adds them';
const TEXTS = "the file asserts message texts; ours are V8's (the patches of error texts)";

export const DIFFERENT = {
  'atomics-store-leak.js': ATOMICS,
  'bug1301.js': ATOMICS,
  'bug1302.js': ATOMICS,
  'bug1498.js': TEXTS,
  'bug1591.js': TEXTS,
  'null_or_undefined.js': TEXTS,
  'bug652.js':
    "expects a WeakRef's target to be freed within the job; the standard and V8 keep it until the job ends (kept-alive)",
  'callsite-isconstructor.js':
    'expects Error.prepareStackTrace to run when the error is made; V8 runs it when the stack is read (error-stack)',
  'import-attributes-identity.js': "tests the module loader of the engine's own shell, which neither engine has",
  'parse-error-column.js': 'expects a frame for the place of a syntax error in eval; V8 has none (error-stack)',
  'test_bjson.js': "needs the shell's qjs:bjson; both engines report that it is missing, each at a place of its own loader",
};
