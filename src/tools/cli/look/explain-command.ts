import type { Command } from 'commander';
import { lazily } from '../../terminal/command-parts.js';
import { nodeCommand } from './node-command.js';

export function explainCommand(): Command {
  return nodeCommand('explain', 'Print every input of the decision in force for a group, in order.')
    .argument('<group>', 'a configured group')
    .option('--json', 'JSON instead of text')
    .addHelpText('after', HELP)
    .action(lazily(async () => (await import('./explanation-text.js')).showExplanation));
}

const HELP = `
The cluster's figures are those of the topic, so every node prints the same; the last lines are of the node asked.
Words of the cluster's bucket: docs/guide/tokens.md.

Examples:
  quotamesh explain orders
  quotamesh explain orders --url http://127.0.0.1:7071 --json | jq .directions.publish.limiting

Exit codes: 0 done, 2 usage or unknown group, 69 no node, 78 refused.`;
