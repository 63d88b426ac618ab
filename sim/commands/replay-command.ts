import { Command } from 'commander';
import { lazily } from '../../src/tools/terminal/command-parts.js';
import { type ArrivalOptions, addArrivalOptions, DIRECTION } from './arrival-options.js';

export interface ReplayCommandOptions extends ArrivalOptions {
  readonly quota?: string;
  readonly quotaBytes?: string;
  readonly system?: readonly string[];
  readonly roundTrip: string;
  readonly retryAfter?: string;
  readonly retries: string;
  readonly progress?: boolean;
}

export function simReplayCommand(): Command {
  const command = new Command('replay')
    .description(
      'Play a CSV of arrivals, or a recording of `quotamesh record`, and show what each strategy does with it.',
    )
    .argument('<file>', 'CSV with a header, or a recording; - = standard input');
  return addArrivalOptions(command)
    .option('--retry-after <duration>', 'CSV: refused rows ask again after half to one and a half of it; or a column')
    .option('--retries <count>', 'CSV: with --retry-after, so often at most', '3')
    .option(
      '--quota <rate>',
      'CSV: messages per second, or 60/min, 600/h (default: the group’s, or what the file asks for on the mean)',
    )
    .option('--quota-bytes <rate>', 'CSV: bytes, likewise (default: the group’s, or unlimited)')
    .option('--config <file>', 'CSV: play a group of this configuration, with its strategy')
    .option('--set <name=value...>', 'CSV: settings of the group, over those of the configuration')
    .option('--system <name...>', 'CSV: play only these (default: the group’s strategy, or all of ours)')
    .option(
      '--round-trip <duration>',
      'CSV: mean time to the store of central-bucket, rate-limiter-flexible and fastify-rate-limit',
      '1ms',
    )
    .option('--seed <number>', 'CSV: of the delays', '1')
    .option('--group <name>', 'configuration or recording: the group, where there are several')
    .addOption(DIRECTION)
    .option('--progress', 'CSV: tell how far it is, on standard error (default: on a terminal, without --json)')
    .option('--json', 'JSON instead of a table')
    .option('--html <file>', 'write a page with charts')
    .addHelpText('after', HELP)
    .action(lazily(async () => (await import('./replay.js')).simReplay));
}

const HELP = `
A file is read as a stream and may be of any length. docs/guide/replay.md tells what is simulated and what a recording shows.

Examples:
  quotamesh sim replay calls.csv --time TIMESTAMP --bytes ContextTokens+GeneratedTokens --speed 170 --nodes 5 --by hash
  quotamesh sim replay calls.csv.gz --time epoch --by tenant --quota 2k --html calls.html
  quotamesh sim replay calls.csv --time TIMESTAMP --config node.yaml --group orders --set burst=1s
  quotamesh sim replay calls.csv --time TIMESTAMP --quota 3 --system max-min central-bucket --round-trip 5ms
  quotamesh sim replay calls.csv --time TIMESTAMP --by pod --per api_key --quota 5 --top 20
  quotamesh sim replay calls.csv --time TIMESTAMP --quota 3 --retry-after 2s
  quotamesh sim replay incident.qmrec --group orders --html incident.html

Exit codes: 0 done, 2 usage, 78 a file cannot be read or written, or has mistakes.`;
