// luxon: dates in UTC, durations and intervals.

import { DateTime, Duration, Interval } from 'luxon';

const date = DateTime.fromISO('2024-02-29T13:05:09Z', { zone: 'utc' });
console.log(date.toISO(), date.plus({ months: 12, days: 1 }).toISODate(), date.weekNumber, date.toFormat("yyyy LL dd HH:mm 'x'"));
console.log(Duration.fromObject({ hours: 50, minutes: 90 }).shiftTo('days', 'hours', 'minutes').toObject());
console.log(
  Interval.fromDateTimes(date, date.plus({ days: 2 })).splitBy({ hours: 18 }).length,
  date.diff(date.minus({ weeks: 3 }), 'days').days,
);
console.log(DateTime.fromFormat('31-12-1999', 'dd-MM-yyyy', { zone: 'utc' }).toMillis(), DateTime.fromISO('x').invalidReason);
