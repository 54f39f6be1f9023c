// moment: parsing, formatting, arithmetic and locales.

import moment from 'moment';
import 'moment/locale/de.js';

moment.locale('en');
const date = moment.utc('2024-02-29T13:05:09Z');
console.log(date.format('dddd, MMMM Do YYYY, h:mm:ss a [week] w'), date.clone().add(1, 'year').toISOString(), date.isoWeek());
console.log(date.clone().locale('de').format('LLLL'), date.from(date.clone().add(3, 'days')), date.diff('2024-01-01', 'days'));
console.log(
  moment.duration({ hours: 50, minutes: 90 }).humanize(),
  moment.duration('P1DT2H').asMinutes(),
  moment('nonsense', 'YYYY', true).isValid(),
);
console.log(
  moment.utc('31-12-1999', 'DD-MM-YYYY').valueOf(),
  date.clone().startOf('month').calendar(date),
  moment.weekdaysShort(),
);
