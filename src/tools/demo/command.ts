import { Command, InvalidArgumentError } from 'commander';
import { parseQuantity } from '../../config/setting/quantity.js';
import { wholeNumber } from '../terminal/command-parts.js';

export interface DemoOptions {
  /** Seconds; absent = the story, or the trace until Ctrl-C. */
  readonly for?: number;
  /** False = the trace, also without --for. */
  readonly story: boolean;
  /** Brokers, host:port with commas. */
  readonly kafka?: string;
  readonly nodes: number;
  readonly speed: number;
  readonly httpPort: number;
  readonly keep?: boolean;
  readonly plain?: boolean;
}

export function demoCommand(): Command {
  return new Command('demo')
    .description('Three nodes of one cluster on this machine, live in the terminal: a story in six acts.')
    .option('--for <duration>', 'no story: a replayed real trace for so long, and a verdict, e.g. 20s', forMs)
    .option('--no-story', 'no story: the trace until Ctrl-C')
    .option('--nodes <count>', 'node processes', wholeNumber(1, 9), 3)
    .option('--speed <factor>', 'how many times faster than it happened the trace is replayed', speedFactor, 170)
    .option('--http-port <port>', 'HTTP port of the first node, the others follow', wholeNumber(1024, 65_500), 7070)
    .option('--kafka <brokers>', 'the nodes meet in this Kafka, host:port,…, on a topic that stays there')
    .option('--keep', 'keep the folder with configuration, topic and logs')
    .option('--plain', 'one line per second, also on a terminal')
    .addHelpText('after', HELP)
    .action(async (options: DemoOptions) => {
      const { runDemonstration } = await import('./demonstration.js');
      process.exit(await runDemonstration(options));
    });
}

const FOR_MS_MIN = 2000;

function forMs(text: string): number {
  const value = parseQuantity('duration', /^\d+$/.test(text) ? `${text}s` : text);
  if (value >= FOR_MS_MIN && value <= 86_400_000) return value;
  throw new InvalidArgumentError('A duration from 2s to 1d, e.g. 20s.');
}

function speedFactor(text: string): number {
  const value = Number(text);
  // Above this the machine would be measured, not the quota.
  if (value >= 1 && value <= 1000) return value;
  throw new InvalidArgumentError('A number from 1 to 1000.');
}

const HELP = `
The story takes some 80 s. Each act says what will happen, what is counted and what is good, and ends with its figure
beside those of a static split and of one central bucket, which have the same requests at the same moments.
On a terminal the nodes then go on until Ctrl-C. With --nodes 1 there is no story.
The verdict of --for is good if utilisation of min(quota, demand) is at least 97 %, over-admission at most 2 % over any
5 s, and the worst sliding second at most 1.10 times the quota. In a clone, \`npm start\` runs it, too.

Examples:
  quotamesh demo
  quotamesh demo --for 20s
  quotamesh demo --kafka 127.0.0.1:9092

Exit codes: 0 good verdict or acts, or ended by Ctrl-C without --for; 1 a bad one, or something failed; 2 usage; 69 a node did not
start; 78 what it needs is not installed; 130 or 143 ended by a signal before the verdict.`;
