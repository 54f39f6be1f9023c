// `toLocaleString` of dates, in English (en-US), with the options that programs use: time zones,
// single fields, `dateStyle` and `timeStyle`. Next: zone-names.js.
'use strict';

const context = require('../context.js');
const { zoneName, shortZoneName } = require('./zone-names.js');

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const DATE_FIELDS = ['weekday', 'era', 'year', 'month', 'day'];
const TIME_FIELDS = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];
const STYLES = ['full', 'long', 'medium', 'short'];
const DATE_STYLES = {
  full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
  long: { year: 'numeric', month: 'long', day: 'numeric' },
  medium: { year: 'numeric', month: 'short', day: 'numeric' },
  short: { year: '2-digit', month: 'numeric', day: 'numeric' },
};
const TIME_STYLES = {
  full: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'long' },
  long: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
  medium: { hour: 'numeric', minute: '2-digit', second: '2-digit' },
  short: { hour: 'numeric', minute: '2-digit' },
};

function formatDate(time, options, wanted) {
  if (Number.isNaN(time)) return 'Invalid Date';
  const given = options ?? {};
  const fields = chooseFields(given, wanted);
  const zoned = zonedTime(time, given.timeZone);
  const date = dateText(fields, zoned);
  const clock = timeText(fields, zoned, given);
  const zone = fields.timeZoneName === undefined ? '' : zoneText(fields.timeZoneName, zoned);
  const tail = [clock, zone].filter((part) => part !== '').join(' ');
  if (date === '' || tail === '') return date + tail;
  return `${date}${given.dateStyle === 'full' || given.dateStyle === 'long' ? ' at ' : ', '}${tail}`;
}

function chooseFields(given, wanted) {
  const { dateStyle, timeStyle } = given;
  if (dateStyle !== undefined || timeStyle !== undefined) {
    for (const [name, style] of [
      ['dateStyle', dateStyle],
      ['timeStyle', timeStyle],
    ])
      if (style !== undefined && !STYLES.includes(style))
        throw new RangeError(`Value ${style} out of range for Date.prototype.toLocaleString options property ${name}`);
    return { ...DATE_STYLES[dateStyle], ...TIME_STYLES[timeStyle] };
  }
  const fields = {};
  for (const name of [...DATE_FIELDS, ...TIME_FIELDS, 'timeZoneName']) if (given[name] !== undefined) fields[name] = given[name];
  const has = (names) => names.some((name) => fields[name] !== undefined);
  const lacks =
    wanted.date && wanted.time ? !has(DATE_FIELDS) && !has(TIME_FIELDS) : wanted.date ? !has(DATE_FIELDS) : !has(TIME_FIELDS);
  if (lacks && wanted.date) Object.assign(fields, { year: 'numeric', month: 'numeric', day: 'numeric' });
  if (lacks && wanted.time) Object.assign(fields, { hour: 'numeric', minute: '2-digit', second: '2-digit' });
  return fields;
}

// Returns a time in the process's own zone or in a named zone. The UTC fields of `local` are the
// fields of the zone. `offset` is the zone's offset in seconds.
function zonedTime(time, timeZone) {
  const own = timeZone === undefined;
  const offset = own ? -new Date(time).getTimezoneOffset() * 60 : native.zoneOffset(`${timeZone}`, time, false);
  if (offset === undefined && !/^(?:utc|gmt|etc\/utc)$/i.test(timeZone))
    throw new RangeError(`Invalid time zone specified: ${timeZone}`);
  const local = new Date(time + (offset ?? 0) * 1000);
  return { local, offset: offset ?? 0, zone: own ? undefined : `${timeZone}` };
}

function dateText(fields, { local }) {
  const { weekday, year, month, day } = fields;
  const dayText = day === undefined ? '' : day === '2-digit' ? two(local.getUTCDate()) : `${local.getUTCDate()}`;
  const yearText = year === undefined ? '' : year === '2-digit' ? two(local.getUTCFullYear() % 100) : `${local.getUTCFullYear()}`;
  const weekdayText = weekday === undefined ? '' : shorten(DAYS[local.getUTCDay()], weekday);
  const index = local.getUTCMonth();
  if (month === 'long' || month === 'short' || month === 'narrow') {
    const monthDay = [shorten(MONTHS[index], month), dayText].filter((part) => part !== '').join(' ');
    const dated = yearText === '' ? monthDay : dayText === '' ? `${monthDay} ${yearText}` : `${monthDay}, ${yearText}`;
    return weekdayText === '' ? dated : `${weekdayText}, ${dated}`;
  }
  const monthText = month === undefined ? '' : month === '2-digit' ? two(index + 1) : `${index + 1}`;
  const numbers = [monthText, dayText, yearText].filter((part) => part !== '').join('/');
  return [weekdayText, numbers].filter((part) => part !== '').join(', ');
}

function timeText({ hour, minute, second, fractionalSecondDigits }, { local }, { hour12, hourCycle }) {
  const parts = [];
  const half = hour12 ?? (hourCycle === undefined || hourCycle === 'h12' || hourCycle === 'h11');
  const hours = local.getUTCHours();
  if (hour !== undefined) {
    const shown = half ? ((hours + 11) % 12) + 1 : hour12 === false && hourCycle === undefined && hours === 0 ? 24 : hours;
    parts.push(hour === '2-digit' || !half ? two(shown) : `${shown}`);
  }
  if (minute !== undefined)
    parts.push(
      parts.length > 0 || second !== undefined || minute === '2-digit' ? two(local.getUTCMinutes()) : `${local.getUTCMinutes()}`,
    );
  if (second !== undefined) parts.push(parts.length > 0 ? two(local.getUTCSeconds()) : `${local.getUTCSeconds()}`);
  let text = parts.join(':');
  if (fractionalSecondDigits !== undefined)
    text += `.${`${local.getUTCMilliseconds()}`.padStart(3, '0').slice(0, fractionalSecondDigits)}`;
  if (hour !== undefined && half) text += ` ${hours < 12 ? 'AM' : 'PM'}`;
  return text;
}

function zoneText(style, { offset, zone }) {
  const name = zone ?? context.process.env.TZ ?? 'UTC';
  const winter = [0, 6].map((month) => native.zoneOffset(name, Date.UTC(2024, month, 15), false) ?? 0);
  return (style === 'long' ? zoneName : shortZoneName)(name, offset, offset > Math.min(...winter));
}

const shorten = (name, style) => (style === 'long' ? name : style === 'narrow' ? name[0] : name.slice(0, 3));
const two = (number) => (number < 10 ? `0${number}` : `${number}`);

module.exports = { formatDate };
