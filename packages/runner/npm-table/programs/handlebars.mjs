// handlebars: templates, helpers and partials.

import Handlebars from 'handlebars';

Handlebars.registerHelper('shout', (text) => text.toUpperCase());
Handlebars.registerHelper('list', (items, options) => `<ul>${items.map((item) => `<li>${options.fn(item)}</li>`).join('')}</ul>`);
Handlebars.registerPartial('person', '{{first}} {{last}}');
const template = Handlebars.compile(
  '{{#if title}}<h1>{{title}}</h1>{{else}}none{{/if}}{{#list people}}{{> person}}{{/list}}{{{raw}}} {{shout name}} {{#each map}}{{@key}}={{this}}{{#unless @last}},{{/unless}}{{/each}}',
);
const people = [
  { first: 'Ada', last: '<L>' },
  { first: 'Alan', last: 'T' },
];
console.log(template({ title: 'a & b', people, raw: '<hr>', name: 'x', map: { a: 1, b: 2 } }));
console.log(template({ people: [], name: 'y' }));
try {
  Handlebars.compile('{{#if}')({});
} catch (error) {
  console.log(error.message);
}
