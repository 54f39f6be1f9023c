// ejs: templates with includes and errors.

import ejs from 'ejs';

const template =
  '<% for (const item of items) { -%>\n- <%= item %> <%- item %>\n<% } -%>\n<%# comment %>total <%= items.length %>';
console.log(ejs.render(template, { items: ['a', '<b>'] }));
console.log(await ejs.render('<%= await value %>', { value: Promise.resolve('waited') }, { async: true }));
console.log(
  ejs.render(
    '[%= include("part", { x: 2 }) %]',
    {},
    { delimiter: '%', openDelimiter: '[', closeDelimiter: ']', includer: () => ({ template: 'part [%= x %]' }) },
  ),
);
try {
  ejs.render('one\n<%= missing %>', {});
} catch (error) {
  console.log(error.name, error.message.split('\n').slice(0, 3));
}
