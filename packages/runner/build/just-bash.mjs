// Adapts just-bash to the shell. A few places of just-bash's interpreter call the shell's functions
// (shell/interpreter.js), and features that the runtime replaces or lacks are omitted. The package
// has one minified bundle, so each place is found by a pattern that must match exactly once. A
// version of just-bash that differs at a place therefore fails the build. Next: shell.mjs.

import { fileURLToPath } from 'node:url';

/**
 * The changes: a reason, a pattern, and its replacement. `$1` and the other groups are the bundle's
 * own short names.
 */
const CHANGES = [
  {
    why: 'the context that its functions share references the interpreter',
    find: /(jsBootstrapCode:t\.jsBootstrapCode,invokeTool:t\.invokeTool\})\}(assertDefenseContext\()/,
    put: '$1,this.ctx.interpreter=this}$2',
  },
  {
    why: 'output of command substitutions is a value',
    find: /let p=await (\w+)\.executeScript\((\w+)\.body\),h=p\.exitCode/,
    put: 'let p=await $1.interpreter.captured(()=>$1.executeScript($2.body)),h=p.exitCode',
  },
  {
    why: 'output of substitutions with backquotes in arithmetic is a value',
    find: /let c=await (\w+)\.executeScript\((\w+)\),u=c\.exitCode;return/,
    put: 'let c=await $1.interpreter.captured(()=>$1.executeScript($2)),u=c.exitCode;return',
  },
  {
    why: 'output of process substitutions is a value',
    find: /let h;try\{h=await (\w+)\.executeScript\((\w+)\)\}catch/,
    put: 'let h;try{h=await $1.interpreter.captured(()=>$1.executeScript($2))}catch',
  },
  {
    why: 'a simple command knows its redirections when it runs',
    find: /v=await this\.runCommand\(u,f,d,n,!1,!1,g,y\)/,
    put: 'v=await this.runSimple(t,b,u,f,d,n,g,y)',
  },
  {
    why: 'output that a child wrote to its own descriptors is not redirected again',
    find: /,v=await (\w+)\(this\.ctx,v,t\.redirections,b\.targets,b\.dupSources,b\.standardRoutes,/,
    put: ',v=v.written?v:await $1(this.ctx,v,t.redirections,b.targets,b.dupSources,b.standardRoutes,',
  },
  {
    why: 'the kernel finds commands',
    find: /c=await \w+\((\w+),t,s\?"\/usr\/bin:\/bin":void 0\)/,
    put: 'c=$1.interpreter.findOwn(t)',
  },
  {
    why: 'a command without input reads the descriptor',
    find: /get stdin\(\)\{return p=!0,d\}/,
    put: 'get stdin(){return p=!0,d=i.interpreter.inputOf(d)}',
  },
  {
    why: 'an assignment without a substitution succeeds',
    find: /(this\.ctx\.state\.expansionStderr="",L\("",P,)this\.ctx\.state\.lastExitCode\)\}let l=/,
    put: '$1this.assignmentStatus())}let l=',
  },
  {
    why: 'adjacent parentheses in an arithmetic expansion may close two groups',
    find: /for\(;o<t\.length-1&&s>0;\)t\[o\]==="\$"&&t\[o\+1\]==="\("\?.{0,260}?(let a=t\.slice\(r,o\),l=this\.parseArithmeticExpression\(a\))/,
    put: 'o=endOfArithmetic(t,r);$1',
  },
  {
    why: 'adjacent parentheses in an arithmetic expansion within another',
    find: /for\(;s<n\.length-1&&i>0;\)n\[s\]==="\("&&n\[s\+1\]==="\(".{0,90}?(let a=n\.slice\(o,s\))/,
    put: 's=endOfArithmetic(n,o);$1',
  },
  {
    why: 'a set of characters in a pattern may be negated by an exclamation mark',
    find: /let i=e\.indexOf\("\]",r\+1\);i!==-1\?\(n\+=e\.slice\(r,i\+1\),r=i\):n\+="\\\\\["/,
    put: 'let i=setOfCharacters(e,r);n+=i.pattern,r=i.end',
  },
  {
    why: 'the end of a set of characters in a pattern',
    find: /for\(n<e\.length&&e\[n\]==="\^"&&n\+\+,(n<e\.length&&e\[n\]==="\]"&&n\+\+;n<e\.length;\)\{let r=e\[n\];if\(r==="\\\\"&&n\+1<e\.length\)\{let s=e\[n\+1\];if)/,
    put: 'for(n<e.length&&(e[n]==="^"||e[n]==="!")&&n++,$1',
  },
  {
    why: 'an escape of a byte that is not UTF-8 stays a byte',
    find: /(if\(r<128\)\{t\+=String\.fromCharCode\(r\),n\+\+;continue\})(if\(\(r&224\)===192\).{0,1100}?t\+=String\.fromCharCode\(r\),n\+\+\}return t\})/,
    put: (_, ascii, rest) => ascii + rest.replaceAll('String.fromCharCode(r)', 'String.fromCharCode(56320|r)'),
  },
  {
    why: 'a command whose output cannot be redirected fails, and the script continues',
    find: /catch\(a\)\{if\(!s\)throw a;return\{error:(\w+)\(.{10,30}redirect target\n`,1\)\}\}return\{entry:\{kind:"output"/,
    put: 'catch(a){return{error:$1("",`${e.interpreter.where()}${t}: ${reasonOf(a)}\\n`,1)}}return{entry:{kind:"output"',
  },
  {
    why: 'input that cannot be redirected has the reason',
    find: /catch\{return p\((\w+)\("",`bash: \$\{v\}: No such file or directory\n`,1\),g\)\}/,
    put: 'catch(a){return p($1("",`${e.interpreter.where()}${v}: ${reasonOf(a)}\\n`,1),g)}',
  },
  {
    why: 'the context of a command needs no copy, because the runtime contains all commands',
    find: /(function \w+\(e,t\)\{)(let n=!0,r=e\.signal\?new AbortController:void 0,s=new WeakMap,)/,
    put: '$1return{context:e,revoke(){}};$2',
  },
  {
    why: 'the runtime and `timeout` bound the time of a command',
    find: /(async function \w+\(e,t,n,r,s,i\)\{)(let o=s\.remainingTimeMs\(\)\?\?t\.limits\.maxExecutionTimeMs,)/,
    put: '$1return e();$2',
  },
  {
    why: 'names of options have letters of ASCII, and a comparison by language is slow',
    find: /(\.\.\.\w+\.map\(r=>\(\{name:r,enabled:e\[r\]\}\)\)\]\.sort\(\(r,s\)=>)r\.name\.localeCompare\(s\.name\)/,
    put: '$1r.name<s.name?-1:1',
  },
  {
    why: 'the flags of the shell',
    find: /(\(o\+="C"\),o\+=)"s",o/,
    put: '$1e.interpreter.flags(),o',
  },
];

/** The changes of the file of the bundle that encodes texts. */
const CHUNK_CHANGES = [
  {
    why: 'a byte that is not UTF-8 is encoded as this byte',
    find: /(function (\w+)\(t,n=\w+\)\{if\(!t\)return t;)(\w+\(\w+\(t\),n,"UTF-8 encode"\))/,
    put: '$1if(/[\\udc80-\\udcff]/u.test(t))return t.split(/([\\udc80-\\udcff])/u).map(p=>/^[\\udc80-\\udcff]$$/u.test(p)?String.fromCharCode(p.charCodeAt(0)&255):$2(p)).join("");$3',
  },
];

// The file with the functions that the changes call.
const CORRECTIONS = fileURLToPath(new URL('../shell/corrections.js', import.meta.url));

/**
 * The names by which the shell imports parts that the package does not export, with the pattern of
 * each declaration.
 */
const EXPORTS = {
  Interpreter: /(\w+)=class\{ctx;constructor\(/,
  ExecutionLimitError: /exitCode:(\w+)\.EXIT_CODE/,
  shellBuiltins: /!(\w+)\.has\(o\)\)return \w+\(`bash: builtin: /,
};

// The file of the bundle that encodes texts. The name has a hash of the content.
const ENCODER = /just-bash\/dist\/bundle\/chunks\/chunk-GN6CQ3J4\.js$/;

// Commands that need native code, an engine of their own or a network, and large commands that few
// scripts use.
const LEFT_OUT = /^\.\/chunks\/(?:python3|sqlite3|js-exec|curl|yq|xan|html-to-markdown|flag-coverage|undici)-\w+\.js$/;

/** Returns an esbuild plugin. `read` returns a file's text; `entry` is the bundle's path. */
export function adaptJustBash({ entry, read }) {
  return {
    name: 'just-bash',
    setup(build) {
      build.onResolve({ filter: LEFT_OUT }, ({ path }) => ({ path, namespace: 'left-out' }));
      build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {};', loader: 'js' }));
      build.onLoad({ filter: ENCODER }, ({ path }) => ({ contents: changed(read(path), CHUNK_CHANGES), loader: 'js' }));
      build.onLoad({ filter: /just-bash\/dist\/bundle\/index\.js$/ }, ({ path }) => {
        if (path !== entry) throw new Error(`two copies of just-bash: ${path} and ${entry}`);
        return { contents: adapt(read(path)), loader: 'js' };
      });
    },
  };
}

function changed(text, changes) {
  for (const { why, find, put } of changes) {
    if (text.split(find).length !== 2 + groupsOf(find)) throw new Error(`just-bash differs from its pinned version: ${why}`);
    text = text.replace(find, put);
  }
  return text;
}

function adapt(original) {
  const text = changed(original, CHANGES);
  const names = Object.entries(EXPORTS).map(([name, find]) => {
    const found = find.exec(text);
    if (found === null) throw new Error(`just-bash differs from its pinned version: ${name}`);
    return `${found[1]} as ${name}`;
  });
  const corrections = `import { endOfArithmetic, reasonOf, setOfCharacters } from ${JSON.stringify(CORRECTIONS)};`;
  return `${corrections}\n${text}\nexport { ${names.join(', ')} };\n`;
}

// Returns the number of groups in a pattern, because `split` adds the groups to its result.
const groupsOf = (find) => new RegExp(`${find.source}|`).exec('').length - 1;
