import { type Command, Option } from 'commander';
import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { lazily, wholeNumber } from '../../terminal/command-parts.js';
import { nodeCommand, seconds } from './node-command.js';

/** Orders of `top`; the first letter is the key. */
export const TOP_SORTS = ['throttled', 'usage', 'demand', 'group'] as const;
export type TopSort = (typeof TOP_SORTS)[number];

export interface TopOptions extends NodeCommandOptions {
  readonly sort: TopSort;
  readonly groups: number;
  readonly every: number;
  readonly count?: number;
  readonly once?: boolean;
}

export function topCommand(): Command {
  return nodeCommand('top', 'Show the busiest groups and keys of a running cluster, live, and the throttled ones.')
    .addOption(new Option('--sort <column>', 'largest first').choices(TOP_SORTS).default('throttled'))
    .option('--groups <n>', 'number of groups', wholeNumber(1, 100), 20)
    .option('--every <seconds>', 'seconds between two tables', seconds(3600), 1)
    .option('--count <n>', 'number of tables until the end (default: Ctrl-C or q)', wholeNumber(1, 1e9))
    .option('--once', 'print the table once, also into a file or a pipe')
    .option('--json', 'one JSON object for each table')
    .addHelpText('after', HELP)
    .action(lazily(async () => (await import('./show-top.js')).showTop));
}

const HELP = `
On a terminal the table stays in place; t, u, d and g sort by throttled, usage, demand and group, q ends it. Into a file
or a pipe goes one line for each group of each table, without colours; with --once one table.
Keys are those that heartbeats of any node name, silent ones too: of very many the busiest.
Rates are as nodes reported them last: of groups far below their quota within half a minute.
THROTTLED is demand above usage, over all nodes; WORST has most of it.
Groups that share tokens: TOKENS in the cluster's bucket and its depth, a debt below 0; the SET POINT to which a busy
bucket returns, by the CORRECTION of the rate; CHARGED, the node that reported most beyond its expected part.

Examples:
  quotamesh top
  quotamesh top --sort usage --groups 10
  quotamesh top --once
  quotamesh top --count 1 | sort -k2
  quotamesh top --json --count 1 | jq '.groups[] | select(.throttled > 0)'

Exit codes: 0 done, 2 usage, 69 no node, 78 refused.`;
