import type { Command } from 'commander';
import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { lazily, wholeNumber } from '../../terminal/command-parts.js';
import { nodeCommand } from './node-command.js';

export interface StatusOptions extends NodeCommandOptions {
  readonly group?: readonly string[];
  readonly groups: number;
  readonly all?: boolean;
}

export function statusCommand(): Command {
  return nodeCommand('status', 'Print the live table of a running cluster, as one of its nodes sees it.')
    .option('--group <name...>', 'only these groups')
    .option('--groups <n>', 'number of groups, the busiest first', wholeNumber(1, 10_000), 20)
    .option('--all', 'all groups and all nodes, however many')
    .option('--json', 'JSON instead of a table')
    .addHelpText('after', HELP)
    .action(lazily(async () => (await import('./status-table.js')).showStatus));
}

const HELP = `
Busiest is the group whose demand at the node that is asked is the largest part of its quota. Of many nodes, those that
want most have a line each, and the others one together. USAGE and DEMAND are as a node reported them last. AGE is the
age of that report; - = there is none, as of a group far below its quota.

Examples:
  quotamesh status
  quotamesh status --groups 100 | less
  watch -n 1 quotamesh status --url http://127.0.0.1:7071 --group orders
  quotamesh status --json | jq .groups[0].directions.publish.nodes

Exit codes: 0 done, 2 usage or unknown group, 69 no node, 78 refused.`;
