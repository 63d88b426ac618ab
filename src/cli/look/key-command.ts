import { Command } from 'commander';
import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { nodeCommand } from './node-command.js';

export interface KeyOptions extends NodeCommandOptions {
  readonly json?: boolean;
}

export function keyCommand(): Command {
  const show = nodeCommand('show', 'Show a key as the node asked knows it.')
    .argument('<key>', 'a name that a template of `keys:` makes')
    .option('--json', 'JSON instead of text')
    .addHelpText('after', HELP)
    .action(async (key: string, options: KeyOptions) => {
      const { showKey } = await import('./show-key.js');
      await showKey(key, options);
    });
  return new Command('key').description('Keys: groups that templates make by use.').addCommand(show);
}

const HELP = `
Examples:
  quotamesh key show key:alice
  quotamesh key show key:alice --json | jq .leftUnheard.publish

Exit codes: 0 done, 2 usage or unknown key, 69 no node, 78 refused.`;
