import { Command } from 'commander';
import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { lazily } from '../../terminal/command-parts.js';
import { child } from './group-command.js';

export interface QuotaFlags extends NodeCommandOptions {
  readonly direction: string;
}

/** `quotamesh quota`, as fdbcli has it. */
export function quotaCommand(): Command {
  const quota = new Command('quota').description(
    'Show and change the cost quotas of a group, in bytes per second, minute, hour or day.',
  );
  directed(quota, 'get', 'Print the quotas of a group.')
    .argument('<group>', 'a group')
    .argument('[quota]', 'reserved_throughput or total_throughput; default both')
    .action(lazily(async () => (await import('./change-quotas.js')).getQuotas));
  directed(quota, 'set', 'Set one of them; the group is made where there is none.')
    .argument('<group>', 'a group')
    .argument('<quota>', 'reserved_throughput or total_throughput')
    .argument('<value>', 'bytes per second, like 10MiB or 5k; 600MiB/min, 1GiB/h, 20GiB/d')
    .action(lazily(async () => (await import('./change-quotas.js')).setQuota));
  directed(quota, 'clear', 'Take quotas away: without a total nothing limits, without a reserve nothing is kept.')
    .argument('<group>', 'a group')
    .argument('[quota]', 'reserved_throughput or total_throughput; default both')
    .action(lazily(async () => (await import('./change-quotas.js')).clearQuotas));
  return quota.addHelpText('afterAll', HELP);
}

function directed(parent: Command, name: string, description: string): Command {
  return child(parent, name, description).option('--direction <direction>', 'publish or dispatch', 'publish');
}

const HELP = `
Bytes per second become cost units (pages): ceiling(bytes / costs.readPageBytes), 4096 by default.
10MiB are 2560 cost units per second: quota.publish.costPerSecond of the group; 600MiB/min are 153600/min of it.

Examples:
  quotamesh quota set orders total_throughput 10MiB
  quotamesh quota set orders reserved_throughput 60MiB/min
  quotamesh quota get orders
  quotamesh quota clear orders reserved_throughput

Exit codes: 0 done, 2 usage or unknown group, 69 no node or no decision, 78 refused: wrong values, or the caller.`;
