// semver: comparing, ranges and increments.

import semver from 'semver';

console.log(
  semver.sort(['1.10.0', '1.2.0', '1.2.0-beta.2', '1.2.0-beta.11']),
  semver.inc('1.2.3-rc.1', 'prerelease'),
  semver.inc('1.2.3', 'minor'),
);
console.log(
  semver.satisfies('1.5.9', '^1.2 || >=3 <4'),
  semver.maxSatisfying(['1.0.0', '1.4.2', '2.0.0'], '~1'),
  semver.validRange('1.x - 2'),
  semver.coerce('v3.4 x').version,
);
console.log(
  semver.diff('1.0.0', '2.0.0-a'),
  semver.intersects('^1.2', '<1.3'),
  semver.minVersion('>1.2').version,
  semver.parse('no'),
);
