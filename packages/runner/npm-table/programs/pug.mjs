// pug: templates with mixins, loops and attributes.

import pug from 'pug';

const source = `doctype html
html
  body(class=['a', 'b'] data-x={ y: 1 })
    mixin item(name)
      li= name
    ul#list
      each name in names
        +item(name)
      else
        li none
    p #{text} !{text}
    case n
      when 1: p one
      default: p many
    - const local = n * 2
    input(type='checkbox' checked disabled=false value=local)
`;
console.log(pug.render(source, { names: ['x', '<y>'], text: '<i>', n: 1, pretty: true }));
console.log(pug.compile('if ok\n  b yes\nelse\n  b no')({ ok: false }));
try {
  pug.render('div(');
} catch (error) {
  console.log(error.code);
}
