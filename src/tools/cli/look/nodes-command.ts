import type { Command } from 'commander';
import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { print } from '../../terminal/print.js';
import { nodeCommand } from './node-command.js';

export function nodesCommand(): Command {
  return nodeCommand('nodes', 'Print the nodes of a running cluster, as one of them sees it.')
    .option('--json', 'JSON instead of a table')
    .addHelpText('after', HELP)
    .action(async ({ json = false, ...options }: NodeCommandOptions) => {
      const { get, nodeAddress } = await import('../../node-client/node-requests.js');
      const { NODE_SAMPLE } = await import('../../node-client/cluster-status.js');
      const { memberTable } = await import('./status-table.js');
      const node = await get<import('../../../node/api/node-status.js').NodeStatus>(
        nodeAddress(options),
        '/v1/nodes',
        NODE_SAMPLE,
      );
      print(json ? JSON.stringify({ nodes: node.members }) : memberTable(node).join('\n'));
    });
}

const HELP = `
STATE: alive; left (it said farewell); expired (silent for too long). * is the node that was asked.

Examples:
  quotamesh nodes
  quotamesh nodes --url http://10.0.0.7:7070 --json | jq '.nodes[] | select(.state != "alive")'

Exit codes: 0 done, 2 usage, 69 no node, 78 refused.`;
