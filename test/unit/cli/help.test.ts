import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { createProgram } from '../../../src/tools/cli/program.js';

it.each(createProgram().commands.flatMap(leavesOf))(
  'help of %s has an example of it, and the exit codes',
  (name, command) => {
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
  },
);

/** `group list`, with what is behind it. */
function leavesOf(command: Command): [string, Command][] {
  if (command.commands.length === 0) return [[command.name(), command]];
  return command.commands.flatMap(leavesOf).map(([name, leaf]) => [`${command.name()} ${name}`, leaf]);
}
