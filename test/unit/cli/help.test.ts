import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { auditCommand } from '../../../src/cli/audit-command.js';
import { checkCommand } from '../../../src/cli/check-command.js';
import { configCommand } from '../../../src/cli/config-command.js';
import { explainCommand } from '../../../src/cli/explain-command.js';
import { groupCommand } from '../../../src/cli/group-command.js';
import { mqttCommand } from '../../../src/cli/mqtt-command.js';
import { nodesCommand } from '../../../src/cli/nodes-command.js';
import { quotaCommand } from '../../../src/cli/quota-command.js';
import { runCommand } from '../../../src/cli/run-command.js';
import { statusCommand } from '../../../src/cli/status-command.js';
import { tokenCommand } from '../../../src/cli/token-command.js';
import { topCommand } from '../../../src/cli/top-command.js';

const COMMANDS = [
  ...[runCommand(), mqttCommand(), checkCommand(), configCommand(), statusCommand(), topCommand(), nodesCommand()],
  ...[explainCommand(), groupCommand(), quotaCommand(), auditCommand(), tokenCommand()],
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
