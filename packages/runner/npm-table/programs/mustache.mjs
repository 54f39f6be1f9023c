// mustache: logic-less templates.

import Mustache from 'mustache';

const template =
  '{{#people}}{{name}}{{^last}}, {{/last}}{{/people}}{{^people}}nobody{{/people}} {{{raw}}} {{raw}} {{> part}} {{#upper}}x{{name}}{{/upper}}';
const view = {
  people: [{ name: 'a' }, { name: 'b', last: true }],
  raw: '<b>',
  name: 'n',
  upper: () => (text, render) => render(text).toUpperCase(),
};
console.log(Mustache.render(template, view, { part: '[{{name}}]' }));
console.log(Mustache.render('{{=<% %>=}}<% a.b %>', { a: { b: 1 } }), JSON.stringify(Mustache.parse('a{{b}}')));
try {
  Mustache.render('{{#a}}', {});
} catch (error) {
  console.log(error.message);
}
