import { Command, Option } from 'commander';

export interface ReplayCommandOptions {
  readonly time?: string;
  readonly timeFormat: 'auto' | 'iso' | 's' | 'ms';
  readonly messages: string;
  readonly bytes: string;
  readonly speed: string;
  readonly nodes: string;
  readonly by: string;
  readonly delimiter: string;
  readonly quota?: string;
  readonly quotaBytes?: string;
  readonly system?: readonly string[];
  readonly seed: string;
  readonly group?: string;
  readonly direction: 'publish' | 'dispatch';
  readonly json?: boolean;
  readonly html?: string;
}

/** A subcommand of `quotamesh sim`. */
export function simReplayCommand(): Command {
  return new Command('replay')
    .description(
      'Play a CSV of arrivals, or a recording of `quotamesh record`, and show what each strategy does with it.',
    )
    .argument('<file>', 'CSV with a header, or a recording; - = standard input')
    .option('--time <column>', 'CSV: column of the time')
    .addOption(
      new Option('--time-format <format>', 'CSV: iso, s or ms').choices(['auto', 'iso', 's', 'ms']).default('auto'),
    )
    .option('--messages <amount>', 'CSV: messages of a row: a number, a column, or columns with + between them', '1')
    .option('--bytes <amount>', 'CSV: bytes of a row, likewise', '0')
    .option('--speed <factor>', 'CSV: so many times as fast as recorded', '1')
    .option('--nodes <count>', 'CSV: nodes that the rows are spread over', '5')
    .option('--by <way>', 'CSV: hash, round-robin, or a column whose equal texts meet the same node', 'hash')
    .option('--delimiter <character>', 'CSV: between the fields', ',')
    .option('--quota <rate>', 'CSV: messages per second (default: what the file asks for on the mean)')
    .option('--quota-bytes <rate>', 'CSV: bytes per second (default: unlimited)')
    .option('--system <name...>', 'CSV: play only these (default: all our strategies)')
    .option('--seed <number>', 'CSV: of the delays', '1')
    .option('--group <name>', 'recording: the group, where there are several')
    .addOption(new Option('--direction <name>', 'recording').choices(['publish', 'dispatch']).default('publish'))
    .option('--json', 'JSON instead of a table')
    .option('--html <file>', 'write a page with charts')
    .addHelpText('after', HELP)
    .action(async (file: string, options: ReplayCommandOptions) => {
      const { simReplay } = await import('./replay.js');
      await simReplay(file, options);
    });
}

const HELP = `
A file is read as a stream and may be of any length. docs/guide/replay.md tells what is simulated and what a recording shows.

Examples:
  quotamesh sim replay calls.csv --time TIMESTAMP --bytes ContextTokens+GeneratedTokens --speed 170 --nodes 5 --by hash
  zcat calls.csv.gz | quotamesh sim replay - --time epoch --by tenant --quota 2k --html calls.html
  quotamesh sim replay incident.qmrec --group orders --html incident.html`;
