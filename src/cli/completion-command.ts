import { Argument, Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** @param program whose commands and options are completed */
export function completionCommand(program: Command): Command {
  return new Command('completion')
    .description('Print a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'which one').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: Shell) => {
      process.stdout.write(SCRIPTS[shell](wordsOf(program, '')));
    });
}

interface Words {
  /** `group set`; '' for the program itself. */
  readonly path: string;
  readonly words: readonly string[];
}

function wordsOf(command: Command, path: string): Words[] {
  const below = command.commands.map((each) => each.name());
  const options = command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long]));
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const own = { path, words: [...below, ...choices, ...options, '--help'] };
  return [own, ...command.commands.flatMap((each) => wordsOf(each, `${path} ${each.name()}`.trim()))];
}

const SCRIPTS: Readonly<Record<Shell, (all: readonly Words[]) => string>> = {
  bash: bashScript,
  zsh: (all) => `#compdef quotamesh\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(all)}`,
  fish: fishScript,
};

/** Files are completed, too, where no word fits. */
function bashScript(all: readonly Words[]): string {
  return `_quotamesh() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" word at
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "\${command:+$command }$word" in
      ${all.flatMap(({ path }) => (path === '' ? [] : [`"${path}"`])).join('|')}) command="\${command:+$command }$word" ;;
    esac
  done
  local words=""
  case "$command" in
${all.map(({ path, words }) => `    "${path}") words="${words.join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _quotamesh quotamesh
`;
}

function fishScript(all: readonly Words[]): string {
  const paths = all.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`])).join(' ');
  return `function __quotamesh_at
  set -l command ''
  for word in (commandline -opc)[2..]
    set -l longer (string trim "$command $word")
    contains -- $longer ${paths}; and set command $longer
  end
  test "$command" = "$argv[1]"
end
${all.map(({ path, words }) => `complete -c quotamesh -n "__quotamesh_at '${path}'" -a '${words.join(' ')}'`).join('\n')}
`;
}

const HELP = `
Examples:
  source <(quotamesh completion bash)
  quotamesh completion zsh > "\${fpath[1]}/_quotamesh"
  quotamesh completion fish > ~/.config/fish/completions/quotamesh.fish

Exit codes: 0 done, 2 usage.`;
