// Runs inside the pinned Node and prints facts of its ICU for English as JSON, for
// `bootstrap/locale`. The facts are the long names of the time zones in standard and in summer
// time, and the order of ASCII. The guest has no ICU. Programs that do not use `Intl` depend only
// on these facts.
'use strict';

const WINTER = Date.UTC(2024, 0, 15);
const SUMMER = Date.UTC(2024, 6, 15);

const names = [];
const indexOf = (name) => (names.includes(name) ? names.indexOf(name) : names.push(name) - 1);

function zoneName(timeZone, date, style) {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: style }).formatToParts(date);
  return parts.find((part) => part.type === 'timeZoneName').value;
}

// Returns a zone's offset at a date, in minutes east of UTC. The larger of two offsets is summer
// time, because a zone south of the equator has its summer in January.
function offsetOf(timeZone, date) {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }).formatToParts(date);
  const [, sign, hours = 0, minutes = 0] = /GMT([+-])?(\d+)?:?(\d+)?/.exec(
    parts.find((part) => part.type === 'timeZoneName').value,
  );
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

// Names that have changed since ICU chose its names, and old names that are still in use.
const ALIASES = `Asia/Kolkata Asia/Kathmandu Asia/Yangon Asia/Ho_Chi_Minh Europe/Kyiv
  America/Argentina/Buenos_Aires America/Nuuk Pacific/Kanton Atlantic/Faroe Asia/Singapore
  Asia/Hong_Kong US/Eastern US/Central US/Mountain US/Pacific US/Alaska US/Hawaii GB GMT UTC Etc/UTC
  Etc/GMT`;

const zones = {};
for (const zone of [...Intl.supportedValuesOf('timeZone'), ...ALIASES.split(/\s+/)]) {
  const [january, july] = [WINTER, SUMMER].map((date) => ({
    name: zoneName(zone, date, 'long'),
    short: zoneName(zone, date, 'short'),
    offset: offsetOf(zone, date),
  }));
  const [standard, summer] = january.offset <= july.offset ? [january, july] : [july, january];
  // For a zone without a name ICU prints the offset, which bootstrap/locale computes.
  if (standard.name.startsWith('GMT') && standard.name !== 'Greenwich Mean Time') continue;
  zones[zone] = [indexOf(standard.name), indexOf(summer.name)];
  if (!/^GMT.|^UTC/.test(standard.short)) zones[zone].push(indexOf(standard.short), indexOf(summer.short));
}

const collator = new Intl.Collator('en-US');
const base = new Intl.Collator('en-US', { sensitivity: 'base' });
const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).sort(collator.compare);
// Letters that differ only in case share a group.
const groups = [];
for (const character of ascii) {
  const last = groups.at(-1);
  if (last !== undefined && base.compare(last[0], character) === 0) groups[groups.length - 1] = last + character;
  else groups.push(character);
}

process.stdout.write(JSON.stringify({ names, zones, order: groups }));
