import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { checkCommand } from '../../../src/cli/config/check-command.js';
import { configCommand } from '../../../src/cli/config/config-command.js';
import { tokenCommand } from '../../../src/cli/config/token-command.js';
import { groupCommand } from '../../../src/cli/groups/group-command.js';
import { quotaCommand } from '../../../src/cli/groups/quota-command.js';
import { auditCommand } from '../../../src/cli/look/audit-command.js';
import { explainCommand } from '../../../src/cli/look/explain-command.js';
import { nodesCommand } from '../../../src/cli/look/nodes-command.js';
import { statusCommand } from '../../../src/cli/look/status-command.js';
import { topCommand } from '../../../src/cli/look/top-command.js';
import { mqttCommand } from '../../../src/cli/run/mqtt-command.js';
import { runCommand } from '../../../src/cli/run/run-command.js';

const COMMANDS = [
  runCommand(),
  mqttCommand(),
  checkCommand(),
  configCommand(),
  statusCommand(),
  topCommand(),
  nodesCommand(),
  explainCommand(),
  groupCommand(),
  quotaCommand(),
  auditCommand(),
  tokenCommand(),
];

it.each(COMMANDS.flatMap(leavesOf))('help of %s has an example of it, and the exit codes', (name, command) => {
  let help = '';
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  const examples = help.slice(help.indexOf('\nExample'), help.indexOf('\nExit codes: '));
  expect(help.split('\nExit codes: '), help).toHaveLength(2);
  expect(examples).toContain(`quotamesh ${name}`);
});

/** `group list`, with what is behind it. */
function leavesOf(command: Command): [string, Command][] {
  if (command.commands.length === 0) return [[command.name(), command]];
  return command.commands.flatMap(leavesOf).map(([name, leaf]) => [`${command.name()} ${name}`, leaf]);
}
