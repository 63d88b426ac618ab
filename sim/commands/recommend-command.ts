import { Command, Option } from 'commander';
import { lazily } from '../../src/tools/terminal/command-parts.js';
import { type ArrivalOptions, addArrivalOptions, DIRECTION } from './arrival-options.js';

export interface RecommendCommandOptions extends ArrivalOptions {
  readonly from: string;
  readonly refuseBelow: string;
  readonly of: 'messages' | 'bytes';
}

export function recommendCommand(): Command {
  const command = new Command('recommend')
    .description('Find the quota, burst and strategy that recorded traffic needs, by playing it on simulated clusters.')
    .requiredOption('--from <file>', 'a recording of `quotamesh record`, or a CSV of arrivals; - = standard input')
    .option('--refuse-below <part>', 'at most this part of the work may be refused', '0.1%')
    .addOption(new Option('--of <amounts>', 'unit of the quota').choices(['messages', 'bytes']).default('messages'))
    .option('--group <name>', 'configuration or recording: the group, where there are several')
    .option('--config <file>', 'CSV: a group of this configuration, with its strategy and all of its settings')
    .option('--set <name=value...>', 'CSV: settings of the group, over those of the configuration')
    .addOption(DIRECTION);
  return addArrivalOptions(command)
    .option('--seed <number>', 'of the delays', '1')
    .option('--json', 'JSON instead of text')
    .option('--html <file>', 'write a page with charts of all strategies at the quota that is recommended')
    .addHelpText('after', HELP)
    .action(lazily(async () => (await import('./recommend.js')).recommendQuota));
}

const HELP = `
docs/guide/shadow.md tells how it is found, and how to watch it on a live cluster before it is enforced.

Examples:
  quotamesh recommend --from calls.csv --time TIMESTAMP --refuse-below 0.1%
  quotamesh recommend --from calls.csv --time TIMESTAMP --config node.yaml --group orders --refuse-below 1%
  quotamesh recommend --from calls.csv --time TIMESTAMP --per api_key --config node.yaml --group 'key:{id}'
  quotamesh recommend --group orders --from incident.qmrec --refuse-below 0.1%

Exit codes: 0 done, 2 usage, 78 a file cannot be read or written, or has mistakes.`;
