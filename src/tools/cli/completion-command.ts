import { Argument, type Command } from 'commander';
import { nodeCommand } from './look/node-command.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];
/** Command of the completion scripts that lists groups. */
const GROUPS = 'groups';

/** Makes the command. @param program whose commands and options are completed */
export function completionCommand(program: Command): Command {
  return nodeCommand('completion', 'Print a script that completes commands, options and names of groups in a shell.')
    .addArgument(
      new Argument('<shell>', 'shell of the script; groups lists names for the scripts').choices([...SHELLS, GROUPS]),
    )
    .addHelpText('after', HELP)
    .action(async (shell: Shell | typeof GROUPS, options) => {
      if (shell === GROUPS) await (await import('./look/print-group-names.js')).printGroupNames(options);
      else process.stdout.write(SCRIPTS[shell](wordsOf(program, '')));
    });
}

interface Words {
  /** Words such as `group set`; '' = the program itself. */
  readonly path: string;
  readonly words: readonly string[];
  readonly takesGroup: boolean;
}

function wordsOf(command: Command, path: string): Words[] {
  const below = command.commands.map((each) => each.name());
  const options = command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long]));
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const names = [...command.registeredArguments.map((each) => each.name()), ...options];
  const takesGroup = options.includes('--url') && (names.includes('group') || names.includes('--group'));
  const own = { path, words: [...below, ...choices, ...options, '--help'], takesGroup };
  return [own, ...command.commands.flatMap((each) => wordsOf(each, `${path} ${each.name()}`.trim()))];
}

/** Options that name the node and its caller. */
const ADDRESS = nodeCommand('any', '').options.flatMap(({ long }) => long ?? []);

const SCRIPTS: Readonly<Record<Shell, (all: readonly Words[]) => string>> = {
  bash: bashScript,
  zsh: (all) => `#compdef quotamesh\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(all)}`,
  fish: fishScript,
};

/**
 * Writes the script for bash, which also completes files. A colon, as in names of keys, parts words in bash: what
 * precedes the last one is taken off.
 */
function bashScript(all: readonly Words[]): string {
  return `_quotamesh() {
  local command="" word at
  local line="\${COMP_LINE:0:COMP_POINT}"
  local current="\${line##* }"
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "\${command:+$command }$word" in
      ${all.flatMap(({ path }) => (path === '' ? [] : [`"${path}"`])).join('|')}) command="\${command:+$command }$word" ;;
    esac
  done
  # Addresses have colons, at which COMP_WORDS are parted.
  local -a parts=($line) address=()
  for ((at = 1; at + 1 < \${#parts[@]}; at++)); do
    case "\${parts[at]}" in
      ${ADDRESS.join('|')}) address+=("\${parts[at]}" "\${parts[at + 1]}") ;;
      ${ADDRESS.map((option) => `${option}=*`).join('|')}) address+=("\${parts[at]}") ;;
    esac
  done
  local words=""
  case "$command" in
${all.map(({ path, words }) => `    "${path}") words="${words.join(' ')}" ;;`).join('\n')}
  esac
  case "$command" in
    ${pathsTakingGroups(all)
      .map((path) => `"${path}"`)
      .join('|')})
      case "$current" in
        -*) ;;
        *) words="$words $(quotamesh completion ${GROUPS} "\${address[@]}" 2>/dev/null)" ;;
      esac ;;
  esac
  # Not compgen -W: it runs what a name holds.
  COMPREPLY=()
  for word in $words; do
    case "$word" in "$current"*) COMPREPLY+=("$word") ;; esac
  done
  case "$COMP_WORDBREAKS $current" in
    *:*" "*:*) COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}") ;;
  esac
}
complete -o default -F _quotamesh quotamesh
`;
}

function fishScript(all: readonly Words[]): string {
  const paths = all.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`])).join(' ');
  const groups = pathsTakingGroups(all).map((path) => {
    return `complete -c quotamesh -n "__quotamesh_at '${path}'" -a '(__quotamesh_groups)'`;
  });
  return `function __quotamesh_at
  set -l command ''
  for word in (commandline -opc)[2..]
    set -l longer (string trim "$command $word")
    contains -- $longer ${paths}; and set command $longer
  end
  test "$command" = "$argv[1]"
end
function __quotamesh_groups
  set -l words (commandline -opc)
  set -l address
  for at in (seq 2 (math (count $words) - 1))
    contains -- $words[$at] ${ADDRESS.join(' ')}; and set -a address $words[$at] $words[(math $at + 1)]
  end
  quotamesh completion ${GROUPS} $address 2>/dev/null
end
${[
  ...all.map(({ path, words }) => `complete -c quotamesh -n "__quotamesh_at '${path}'" -a '${words.join(' ')}'`),
  ...groups,
].join('\n')}
`;
}

function pathsTakingGroups(all: readonly Words[]): readonly string[] {
  return all.flatMap(({ path, takesGroup }) => (takesGroup ? [path] : []));
}

const HELP = `
Names of groups come from the node of --url in the completed line, or from the default one, within half a second. Without a
node there, or without its token, no names are completed.

Examples:
  source <(quotamesh completion bash)
  quotamesh completion zsh > "\${fpath[1]}/_quotamesh"
  quotamesh completion fish > ~/.config/fish/completions/quotamesh.fish
  quotamesh completion groups --url http://127.0.0.1:7071

Exit codes: 0 done, 2 usage, 69 groups: no node, 78 groups: refused.`;
