// `coldframe completion bash|zsh|fish`: prints a script for the shell. The script has the words of
// the table of subcommands, so that completion starts no process.

import { LIMITS } from '../options/limits.js';
import type { Flag } from './flags.js';
import { wrongOperands } from './parse.js';
import { PERMISSION_NAMES } from './permission-options.js';
import type { Arguments, Subcommand } from './subcommand.js';

type Script = (subcommands: readonly Subcommand[]) => string;

const SCRIPTS: Readonly<Record<string, Script>> = { bash: bashScript, zsh: zshScript, fish: fishScript };

export async function execute(args: Arguments, subcommands: readonly Subcommand[]): Promise<number> {
  const script =
    args.operands.length === 1 && Object.hasOwn(SCRIPTS, args.operands[0] as string) && SCRIPTS[args.operands[0] as string];
  if (!script) wrongOperands(args);
  console.log(script(subcommands));
  return 0;
}

/** An option with the names that the table writes as SCOPE. */
interface Option {
  name: string;
  short?: string | undefined;
  hasValue: boolean;
  help: string;
}

function optionsOf({ flags }: Subcommand): Option[] {
  return flags.flatMap(({ name, short, value, optionalValue, help }: Flag): Option[] => {
    if (!optionalValue) return [{ name, short, hasValue: value !== undefined, help }];
    const word = name.slice(0, name.indexOf('-'));
    return [...PERMISSION_NAMES.keys()].map((target) => ({
      name: `${word}-${target}`,
      hasValue: false,
      help: `${word} ${target}`,
    }));
  });
}

const limitWords = (): string[] => Object.keys(LIMITS).map((name) => `${name}=`);
const globals = ['help', '--help', '--version'];

function bashScript(subcommands: readonly Subcommand[]): string {
  const cases = subcommands.map((subcommand) => {
    const options = optionsOf(subcommand);
    const names = options.map(({ name }) => `--${name}`).join(' ');
    return `    ${subcommand.name}) options='${names}' words='${(subcommand.words ?? []).join(' ')}' ;;`;
  });
  return `# Completion of coldframe for bash: source <(coldframe completion bash)
_coldframe() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} options words
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${[...subcommands.map(({ name }) => name), ...globals].join(' ')}' -- "$current"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    help) COMPREPLY=($(compgen -W '${subcommands.map(({ name }) => name).join(' ')}' -- "$current")); return ;;
  esac
  case $previous in
    --limit | -l) COMPREPLY=($(compgen -W '${limitWords().join(' ')}' -- "$current")); compopt -o nospace 2> /dev/null; return ;;
  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) if [ -n "$words" ] && [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W "$words" -- "$current"))
       else COMPREPLY=($(compgen -f -- "$current")); fi ;;
  esac
}
complete -o filenames -F _coldframe coldframe`;
}

const quoted = (text: string): string => text.replaceAll("'", "'\\''");
const inSpec = (text: string): string => quoted(text).replaceAll(/[[\]:]/g, '\\$&');

function zshScript(subcommands: readonly Subcommand[]): string {
  const cases = subcommands.map((subcommand) => {
    const specs = optionsOf(subcommand).map(({ name, hasValue, help }) => {
      const value = hasValue ? (name === 'limit' ? `:limit:(${limitWords().join(' ')})` : ':value:_files') : '';
      return `        '*--${name}[${inSpec(help)}]${value}'`;
    });
    const operand =
      subcommand.words === undefined ? "'*:file:_files'" : `'1:word:(${subcommand.words.join(' ')})' '*:file:_files'`;
    return `      ${subcommand.name})\n        _arguments \\\n${[...specs, `        ${operand}`].join(' \\\n')} ;;`;
  });
  const names = subcommands.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`);
  return `#compdef coldframe
# Completion of coldframe for zsh: source <(coldframe completion zsh)
_coldframe() {
  local -a subcommands
  subcommands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'subcommand' subcommands
    return
  fi
  local name=$words[2]
  shift words
  (( CURRENT-- ))
  case $name in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_coldframe" ]; then _coldframe "$@"; else compdef _coldframe coldframe; fi`;
}

function fishScript(subcommands: readonly Subcommand[]): string {
  const first = subcommands.map(
    ({ name, summary }) => `complete -c coldframe -n __fish_use_subcommand -f -a ${name} -d '${quoted(summary)}'`,
  );
  const options = subcommands.flatMap((subcommand) => {
    const condition = `-n '__fish_seen_subcommand_from ${subcommand.name}'`;
    return [
      ...optionsOf(subcommand).map(({ name, short, hasValue, help }) => {
        const words = name === 'limit' ? ` -a '${limitWords().join(' ')}'` : '';
        const letter = short === undefined ? '' : ` -s ${short}`;
        return `complete -c coldframe ${condition} -l ${name}${letter}${hasValue ? ' -r' : ''}${words} -d '${quoted(help)}'`;
      }),
      ...(subcommand.words === undefined ? [] : [`complete -c coldframe ${condition} -a '${subcommand.words.join(' ')}'`]),
    ];
  });
  return ['# Completion of coldframe for fish: coldframe completion fish | source', ...first, ...options].join('\n');
}
