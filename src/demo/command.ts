import { Command, InvalidArgumentError } from 'commander';
import { parseQuantity } from '../config/setting/quantity.js';

export interface DemoOptions {
  /** Absent = until Ctrl-C. */
  readonly for?: number;
  readonly nodes: number;
  readonly speed: number;
  readonly httpPort: number;
  readonly keep?: boolean;
  readonly plain?: boolean;
}

/** `quotamesh demo`, which `npm start` runs. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('Three nodes of one cluster on this machine under a replayed real trace, live in the terminal.')
    .option('--for <duration>', 'end by itself, with a verdict and exit code 0 if all is well, e.g. 20s', forMs)
    .option('--nodes <count>', 'node processes', wholeBetween(1, 9), 3)
    .option('--speed <factor>', 'how many times faster than it happened the trace is replayed', speedFactor, 170)
    .option('--http-port <port>', 'HTTP port of the first node, the others follow', wholeBetween(1024, 65_500), 7070)
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
  // Above this three nodes on one machine would be measured, not the quota.
  if (value >= 1 && value <= 1000) return value;
  throw new InvalidArgumentError('A number from 1 to 1000.');
}

function wholeBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`A whole number from ${least} to ${most}.`);
  };
}

const HELP = `
The verdict is good if utilisation of min(quota, demand) is at least 97 %, over-admission at most 2 % over any 5 s, and the worst
sliding second at most 1.10 times the quota. In a clone, \`npm start\` runs it, too.

Examples:
  quotamesh demo
  quotamesh demo --for 20s

Exit codes: 0 good verdict, or ended by Ctrl-C without --for; 1 bad verdict, or something failed; 2 usage; 69 a node did not start;
78 what it needs is not installed; 130 or 143 ended by a signal before the verdict.`;
