// prettier: formatting JavaScript, TypeScript, CSS, JSON and Markdown.

import prettier from 'prettier';

const samples = {
  babel: 'const  a = {b:1,c:[1,2,3]}; async function f(x){return x?await g(x):(()=>{throw new Error("no")})()}',
  typescript:
    'type A<T>={[K in keyof T]?:T[K]}\nenum  E {A=1,B}\nabstract class X<T> implements Y{ private constructor(readonly a:T){super()} }',
  css: 'a{color:red;background:URL(x.png)}@media (max-width:1px){b>c{margin:0 1px}}',
  json: '{"a":[1,2,{"b":null}],"c":"long long long long long long long long long long long long long text"}',
  markdown: '# a\n* b\n* c\n\n|x|yy|\n|-|-|\n|1|2|\n',
};
for (const [parser, code] of Object.entries(samples)) console.log(await prettier.format(code, { parser, singleQuote: true }));
console.log(await prettier.format('let a = ', { parser: 'babel' }).catch((error) => error.message.split('\n')[0]));
