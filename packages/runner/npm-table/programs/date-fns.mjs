// date-fns: formatting, arithmetic and distances.

import {
  add,
  differenceInBusinessDays,
  eachWeekOfInterval,
  format,
  formatDistance,
  formatISO,
  intervalToDuration,
  parse,
  parseISO,
} from 'date-fns';
import { de } from 'date-fns/locale/de';

const date = new Date(2024, 1, 29, 13, 5, 9);
console.log(format(date, "yyyy-MM-dd HH:mm:ss, EEEE do 'of' MMMM, QQQ, 'week' I"));
console.log(format(date, 'PPPPp', { locale: de }));
console.log(formatISO(add(date, { years: 1, months: 1, days: 3 }), { representation: 'date' }));
console.log(
  formatDistance(date, add(date, { days: 40 }), { addSuffix: true }),
  differenceInBusinessDays(add(date, { weeks: 2 }), date),
);
console.log(intervalToDuration({ start: date, end: add(date, { hours: 50, minutes: 3 }) }));
console.log(parse('02/11/2014 07:30', 'MM/dd/yyyy HH:mm', new Date(0)).getTime() === new Date(2014, 1, 11, 7, 30).getTime());
console.log(eachWeekOfInterval({ start: parseISO('2024-01-01'), end: parseISO('2024-02-01') }).map((d) => format(d, 'MM-dd')));
