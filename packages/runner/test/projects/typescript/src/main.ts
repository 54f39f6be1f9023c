// The program that the build with tsc makes: an enum is no type that could only be left out.

import { type Count, countWords } from './count.js';

declare const console: { log(text: string): void };

enum Plural {
  one = 'time',
  many = 'times',
}

const show = ({ word, times }: Count): string => `${word}: ${times} ${times === 1 ? Plural.one : Plural.many}`;

console.log(countWords('The cat and the dog and the bird').map(show).join('\n'));
