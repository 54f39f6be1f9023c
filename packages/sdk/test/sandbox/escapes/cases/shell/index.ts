// Attacks the shell and its commands.

import type { EscapeCase, Theme } from '../../harness/case.js';

/** Makes a case that runs a line with `bash -c`. Endless lines must end by their timeout. */
const line = (name: string, text: string, expected: RegExp, timeout = 1_500): EscapeCase => ({
  name,
  attack: async (runtime) => {
    const result = await runtime.execCommand('bash', ['-c', text], { timeout });
    return `${result.error?.code ?? result.exitCode}: ${result.stdout.slice(0, 5_000)}${result.stderr.slice(0, 2_000)}`.trim();
  },
  expected,
});

const NO_FAULT = /^(?!ERR_ENGINE_FAULT)[\s\S]*$/;
const ENDED = /^(ERR_TIMEOUT|ERR_MEMORY_LIMIT|ERR_CPU_LIMIT|[1-9]\d*):/;

export const shell: Theme = {
  name: 'shell',
  cases: [
    line(
      'no reading command reads files of the host machine',
      [
        'for c in cat head tail wc sort od strings base64 sha256sum nl rev tac',
        'do $c /etc/shadow /sys/class/dmi/id/product_uuid && echo READ',
        'done 2>/dev/null',
        'echo done',
      ].join('; '),
      /^0: (?![\s\S]*READ)[\s\S]*done$/,
    ),
    line(
      'redirections cannot write system files',
      [
        '(echo x > /etc/passwd); (echo x >> /bin/sh); (: > /proc/self/comm)',
        '(echo x | tee /etc/hosts); (cp /etc/hosts /etc/shadow); (ln -sf /tmp /etc/x)',
        'echo still',
        'cat /etc/passwd | head -1',
        'ls /etc/shadow /etc/x',
      ].join('; '),
      /still\nroot:x:0(?![\s\S]*^\/etc\/(shadow|x)$)/m,
    ),
    line(
      'redirections open no connections',
      `exec 3<>/dev/tcp/127.0.0.1/22 && echo CONNECTED; cat < /dev/udp/8.8.8.8/53 && echo CONNECTED; echo done`,
      /^(?![\s\S]*CONNECTED)/,
    ),
    line('a fork bomb ends', `:(){ :|:& };:`, NO_FAULT),
    line('a bomb of programs ends', `f() { node -e 0 & f; }; f`, NO_FAULT),
    line('brace expansion that multiplies ends', `echo {1..100000}{1..100000}{1..100000} | wc -c`, NO_FAULT),
    line('nested brace expansion ends', `echo ${'{{a,b},{c,d}}'.repeat(12)} | wc -c`, NO_FAULT),
    line(
      'patterns with endless matches end',
      `mkdir -p g; for i in 1 2 3; do touch g/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa$i; done; echo g/*a*a*a*a*a*a*a*a*a*a*a*a*b`,
      NO_FAULT,
    ),
    line(
      'arithmetic at its bounds is contained',
      [
        'echo $((9223372036854775807 + 1)) $((1 / 0)) $((-9223372036854775808 / -1)) $((2 ** 1000000)) $((1 << 999))',
        'echo $((x = y, y = x))',
        'a=a',
        'echo $((a))',
      ].join('; '),
      NO_FAULT,
    ),
    line('recursive functions end', `f() { f; }; f`, ENDED, 1_500),
    line('nested eval ends', `x='eval "$x"'; eval "$x"`, ENDED, 1_500),
    line('nested substitution ends', `f() { echo $(f); }; f`, NO_FAULT),
    line('files that source each other end', `echo '. ./circle' > circle; . ./circle`, ENDED, 1_500),
    line('endless output ends', `yes | cat`, ENDED),
    line('text that doubles ends', `x=x; while :; do x=$x$x; done`, ENDED, 1_500),
    line(
      'a field width of a billion is refused',
      `printf '%1000000000d' 1 | wc -c; printf '%*d' 2147483647 1 | wc -c`,
      NO_FAULT,
      1_500,
    ),
    line(
      'backtracking patterns end',
      [
        `echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | grep -E '^(a+)+$b'`,
        `echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | sed -E 's/(a*)*b/x/'`,
        'echo done',
      ].join('; '),
      NO_FAULT,
    ),
    line('endless awk and bc programs end', `awk 'BEGIN { while (1) x = x "x" }'`, ENDED, 1_500),
    line('endless jq programs end', `jq -n 'def f: f; f' & jq -n '[recurse(.)]' & jq -n '[range(1e12)]' & wait`, NO_FAULT, 1_500),
    line('endless sed programs end', `echo x | sed ':a; s/x/xx/; ta'`, ENDED, 1_500),
    line(
      'archives with climbing names stay in their folder',
      [
        'mkdir in; cd in; echo evil > evil',
        `tar -cf ../a.tar ../in/evil --transform 's,^,../../etc/,' 2>/dev/null`,
        'tar -xf ../a.tar 2>/dev/null',
        `printf '../../../../etc/evil\\0' > n`,
        'cd ..; ls /etc | grep evil',
        'echo done',
      ].join('; '),
      /^0: done$/,
    ),
    line(
      'archives that exceed the space fail',
      [
        `node -e 'const z = require("zlib")`,
        `require("fs").writeFileSync("b.gz", Buffer.concat(Array(16).fill(z.gzipSync(Buffer.alloc(1 << 24)))))'`,
        'gunzip b.gz',
        'ls -l b* | wc -l',
      ].join('; '),
      NO_FAULT,
      10_000,
    ),
    line('kill reaches only processes of the runtime', `kill -9 -1; kill -9 0; echo unreachable`, NO_FAULT),
    line('traps do not prevent the end', `trap '' TERM INT HUP; trap 'while :; do :; done' EXIT; while :; do :; done`, ENDED),
    line(
      'xargs and find reach no file of the host machine',
      `find / -exec echo {} \\; 2>/dev/null | xargs -n 1 echo | wc -l`,
      NO_FAULT,
    ),
    line(
      'commands of an administrator fail',
      [
        'for c in mount umount chroot unshare nsenter sudo su insmod reboot mknod dd losetup iptables strace gdb',
        'do $c / x 2>/dev/null && echo RAN $c',
        'done',
        'echo done',
      ].join('; '),
      /^0: done$/,
    ),
    line(
      'the environment of other processes is not readable',
      `env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; set | head -50; echo done`,
      /done$/,
    ),
    line(
      'here-documents and lines of a megabyte work',
      `x=$(head -c 1000000 /dev/zero | tr '\\0' x); cat <<EOF | wc -c\n$x\nEOF\necho "\${#x}"; eval "echo \${x}" | wc -c`,
      NO_FAULT,
      1_500,
    ),
    {
      name: 'random invalid lines are syntax errors',
      attack: async (runtime) => {
        const parts = [
          '$(',
          ')',
          '${',
          '}',
          '`',
          '"',
          "'",
          '\\',
          ';',
          '&&',
          '||',
          '|',
          '&',
          '<<',
          '<<<',
          '>',
          '<(',
          '((',
          '))',
          '[[',
          ']]',
          'if',
          'fi',
          'do',
          'done',
          'case',
          'esac',
          '\n',
          '\0'.trim(),
          '{',
          '!',
          '#',
          '*',
          '~',
          '$',
          '$$',
          '$!',
          '@',
          'x=',
          '()',
          'function',
          '1>&2',
          '2>&1',
          '>&-',
          'time',
          '%',
          'é',
          '\u{1f600}',
        ];
        let seed = 4_711;
        const random = (most: number): number => {
          seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
          return seed % most;
        };
        const ends = new Set<string>();
        for (let i = 0; i < 60; i++) {
          const text = Array.from({ length: 1 + random(12) }, () => parts[random(parts.length)]).join(random(2) ? ' ' : '');
          const result = await runtime.execCommand('bash', ['-c', text || ':'], { timeout: 1_000 });
          ends.add(result.error?.code ?? 'ended');
        }
        return [...ends].sort().join();
      },
      expected: /^(?!.*FAULT)/,
    },
  ],
};
