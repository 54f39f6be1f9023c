// just-bash as the shell needs it: a few places of its interpreter ask our own (shell/interpreter.js), and what the box has in another way, or
// has not at all, is left out. Its package holds one minified bundle, so the places are found by patterns that must match exactly once:
// another version than the pinned one fails here and not in a sandbox. Next: shell.mjs.

/** What replaces what, and why. `$1`... are the bundle's own short names. */
const CHANGES = [
  {
    why: 'the context that its functions share leads to the interpreter',
    find: /(jsBootstrapCode:t\.jsBootstrapCode,invokeTool:t\.invokeTool\})\}(assertDefenseContext\()/,
    put: '$1,this.ctx.interpreter=this}$2',
  },
  {
    why: 'output of command substitutions is a value',
    find: /let p=await (\w+)\.executeScript\((\w+)\.body\),h=p\.exitCode/,
    put: 'let p=await $1.interpreter.captured(()=>$1.executeScript($2.body)),h=p.exitCode',
  },
  {
    why: 'the same for the older form with backquotes in arithmetic',
    find: /let c=await (\w+)\.executeScript\((\w+)\),u=c\.exitCode;return/,
    put: 'let c=await $1.interpreter.captured(()=>$1.executeScript($2)),u=c.exitCode;return',
  },
  {
    why: 'the same for process substitutions',
    find: /let h;try\{h=await (\w+)\.executeScript\((\w+)\)\}catch/,
    put: 'let h;try{h=await $1.interpreter.captured(()=>$1.executeScript($2))}catch',
  },
  {
    why: 'a simple command knows its redirections when it is run',
    find: /v=await this\.runCommand\(u,f,d,n,!1,!1,g,y\)/,
    put: 'v=await this.runSimple(t,b,u,f,d,n,g,y)',
  },
  {
    why: 'what a child has written to its own descriptors is not redirected again',
    find: /,v=await (\w+)\(this\.ctx,v,t\.redirections,b\.targets,b\.dupSources,b\.standardRoutes,/,
    put: ',v=v.written?v:await $1(this.ctx,v,t.redirections,b.targets,b.dupSources,b.standardRoutes,',
  },
  {
    why: 'where commands are found is a question for the kernel',
    find: /c=await \w+\((\w+),t,s\?"\/usr\/bin:\/bin":void 0\)/,
    put: 'c=$1.interpreter.findOwn(t)',
  },
  {
    why: 'a command that reads its input, and was given none, reads the descriptor',
    find: /get stdin\(\)\{return p=!0,d\}/,
    put: 'get stdin(){return p=!0,d=i.interpreter.inputOf(d)}',
  },
];

/** Names under which the shell gets at parts that the package does not export, and what their declarations look like. */
const EXPORTS = {
  Interpreter: /(\w+)=class\{ctx;constructor\(/,
  shellBuiltins: /!(\w+)\.has\(o\)\)return \w+\(`bash: builtin: /,
};

// Commands that need a host, an engine of their own or a network; and large ones that few scripts use.
const LEFT_OUT = /^\.\/chunks\/(?:python3|sqlite3|js-exec|curl|yq|xan|html-to-markdown|flag-coverage|undici)-\w+\.js$/;

/** An esbuild plugin. `read`: a file's text; `entry`: the bundle's path. */
export function adaptJustBash({ entry, read }) {
  return {
    name: 'just-bash',
    setup(build) {
      build.onResolve({ filter: LEFT_OUT }, ({ path }) => ({ path, namespace: 'left-out' }));
      build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {};', loader: 'js' }));
      build.onLoad({ filter: /just-bash\/dist\/bundle\/index\.js$/ }, ({ path }) => {
        if (path !== entry) throw new Error(`two copies of just-bash: ${path} and ${entry}`);
        return { contents: adapt(read(path)), loader: 'js' };
      });
    },
  };
}

function adapt(text) {
  for (const { why, find, put } of CHANGES) {
    if (text.split(find).length !== 2 + groupsOf(find))
      throw new Error(`just-bash has another shape than its pinned version: ${why}`);
    text = text.replace(find, put);
  }
  const names = Object.entries(EXPORTS).map(([name, find]) => {
    const found = find.exec(text);
    if (found === null) throw new Error(`just-bash has another shape than its pinned version: ${name}`);
    return `${found[1]} as ${name}`;
  });
  return `${text}\nexport { ${names.join(', ')} };\n`;
}

// `split` puts the groups into its result.
const groupsOf = (find) => new RegExp(`${find.source}|`).exec('').length - 1;
