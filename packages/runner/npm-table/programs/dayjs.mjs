// dayjs: parsing, plugins and time zones.

import dayjs from 'dayjs';
import duration from 'dayjs/plugin/duration.js';
import relativeTime from 'dayjs/plugin/relativeTime.js';
import utc from 'dayjs/plugin/utc.js';
import weekOfYear from 'dayjs/plugin/weekOfYear.js';

for (const plugin of [duration, relativeTime, utc, weekOfYear]) dayjs.extend(plugin);
const date = dayjs.utc('2024-02-29T13:05:09Z');
console.log(date.format('dddd, MMMM D YYYY HH:mm:ss [at] Z'), date.week(), date.add(1, 'month').endOf('month').toISOString());
console.log(
  date.to(date.add(3, 'hour')),
  date.diff('2024-01-01', 'day'),
  dayjs.duration({ hours: 5, minutes: 61 }).toISOString(),
);
console.log(dayjs('nonsense').isValid(), date.isBefore(dayjs.utc('2025-01-01')), date.startOf('week').format('YYYY-MM-DD'));
