import { Command, CommanderError } from 'commander';
import { recommendCommand } from '../../../sim/commands/recommend-command.js';
import { simCommand } from '../../../sim/commands/sim-command.js';
import { EXIT_OK, EXIT_USAGE } from '../../base/errors/error-row.js';
import { VERSION } from '../../base/package/version.js';
import { demoCommand } from '../demo/command.js';
import { adviseHelp, exitWithError, survivePipeEnd } from '../terminal/exit.js';
import { completionCommand } from './completion-command.js';
import { checkCommand } from './config/check-command.js';
import { configCommand } from './config/config-command.js';
import { doctorCommand } from './config/doctor-command.js';
import { envoyCommand } from './config/envoy-command.js';
import { tokenCommand } from './config/token-command.js';
import { budgetCommand } from './groups/budget-command.js';
import { groupCommand } from './groups/group-command.js';
import { keyCommand } from './groups/key-command.js';
import { quotaCommand } from './groups/quota-command.js';
import { initCommand } from './init/init-command.js';
import { auditCommand } from './look/audit-command.js';
import { explainCommand } from './look/explain-command.js';
import { nodesCommand } from './look/nodes-command.js';
import { statusCommand } from './look/status-command.js';
import { topCommand } from './look/top-command.js';
import { kafkaQuotasCommand } from './run/kafka-quotas-command.js';
import { mqttCommand } from './run/mqtt-command.js';
import { recordCommand } from './run/record-command.js';
import { runCommand } from './run/run-command.js';

export async function runProgram(argv: readonly string[]): Promise<void> {
  survivePipeEnd();
  try {
    await createProgram().parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) exitWithError(error);
    // Commander has printed its message.
    process.exitCode = error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
  }
}

/**
 * Makes all commands, for --help and docs/reference/commands.md. Each loads what it needs when it runs: `--version` and
 * `--help` load commander only.
 */
export function createProgram(): Command {
  const program = new Command('quotamesh')
    .description('Cluster-wide quotas with local decisions.')
    .version(VERSION, '-V, --version')
    .exitOverride()
    .configureHelp({ helpWidth: 120 })
    .showHelpAfterError(helpOf('quotamesh'))
    .hook('preAction', (_, command) => adviseHelp(helpOf(nameOf(command))))
    .addHelpText('after', EXAMPLES);
  for (const command of [...commands(), completionCommand(program)]) inherit(command, program.addCommand(command));
  return program;
}

function commands(): readonly Command[] {
  return [
    initCommand(),
    doctorCommand(),
    runCommand(),
    mqttCommand(),
    kafkaQuotasCommand(),
    checkCommand(),
    envoyCommand(),
    configCommand(),
    statusCommand(),
    topCommand(),
    nodesCommand(),
    explainCommand(),
    keyCommand(),
    groupCommand(),
    quotaCommand(),
    budgetCommand(),
    auditCommand(),
    tokenCommand(),
    simCommand(),
    recommendCommand(),
    recordCommand(),
    demoCommand(),
  ];
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function helpOf(name: string): string {
  return `See \`${name} --help\`.`;
}

/** Passes settings on, as commander does only for commands that it makes. */
function inherit(command: Command, parent: Command): void {
  command.exitOverride().copyInheritedSettings(parent);
  command.showHelpAfterError(helpOf(nameOf(command)));
  for (const below of command.commands) inherit(below, command);
}

const EXAMPLES = `
Examples:
  quotamesh init
  quotamesh doctor node.yaml
  quotamesh run --config node.yaml
  quotamesh run --config node.yaml --node b --http 127.0.0.1:7071
  quotamesh status --url http://127.0.0.1:7070
  quotamesh top --sort throttled
  quotamesh explain orders
  quotamesh group set orders quota.publish.messagesPerSecond=5k
  quotamesh sim compare skewed

Exit codes: 0 clean; 1 unexpected; 2 usage, unknown group; 69 unavailable: no node, no topic, no decision of the log;
78 configuration, or the node has refused: a change, or the caller. Colours only on a terminal, and not with NO_COLOR.`;
