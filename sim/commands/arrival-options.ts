import { type Command, Option } from 'commander';
import { usage } from '../../src/tools/terminal/print.js';
import { TIME_FORMATS, type TimeFormat } from '../replay/trace-time.js';

/** Options of both commands that read recorded traffic. */
export interface ArrivalOptions {
  readonly time?: string;
  readonly timeFormat: TimeFormat;
  readonly messages: string;
  readonly bytes: string;
  readonly speed: string;
  readonly nodes: string;
  readonly by: string;
  readonly per?: string;
  readonly top: string;
  readonly delimiter?: string;
  readonly config?: string;
  readonly set?: readonly string[];
  readonly group?: string;
  readonly direction: 'publish' | 'dispatch';
  readonly seed: string;
  readonly json?: boolean;
  readonly html?: string;
}

export const DIRECTION = new Option('--direction <name>', 'configuration or recording')
  .choices(['publish', 'dispatch'])
  .default('publish');

/** Rejects flags of a CSV beside a recording. What stands in it is played. */
export function rejectCsvFlags(command: Command, options: object, file: string): void {
  const given = options as Readonly<Record<string, unknown>>;
  const wrong = command.options.find(
    (option) => option.description.startsWith(OF_CSV) && given[option.attributeName()] !== option.defaultValue,
  );
  if (wrong !== undefined) throw usage(`${wrong.long} is for a CSV, and ${file} is a recording`);
}

/** Begins the help of a flag that only a CSV has. */
const OF_CSV = 'CSV: ';

/** Adds options for reading a CSV of arrivals, and its rows' nodes. */
export function addArrivalOptions(command: Command): Command {
  return command
    .option('--time <column>', 'CSV: column of the time')
    .addOption(
      new Option('--time-format <format>', 'CSV: a date, or a number of s, ms, us or ns')
        .choices(TIME_FORMATS)
        .default('auto'),
    )
    .option('--messages <amount>', 'CSV: messages of a row: a number, a column, or columns with + between them', '1')
    .option('--bytes <amount>', 'CSV: bytes of a row, likewise', '0')
    .option('--speed <factor>', 'CSV: so many seconds of the file in one of the nodes', '1')
    .option('--nodes <count>', 'CSV: nodes that the rows are spread over', '5')
    .option('--by <way>', 'CSV: hash, round-robin, or a column: its texts fill the nodes one by one', 'hash')
    .option('--per <column>', 'CSV: a quota of its own for each text of this column')
    .option('--top <count>', 'CSV: with --per, show so many of those with the most refused', '10')
    .option('--delimiter <character>', 'CSV: between the fields (default: as the header shows)');
}
