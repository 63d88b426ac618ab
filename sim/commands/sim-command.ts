import { Command, InvalidArgumentError, Option } from 'commander';
import { lazily, wholeNumber } from '../../src/tools/terminal/command-parts.js';
import type { LiveTopicKind } from '../live/check-live.js';
import { simReplayCommand } from './replay-command.js';

/** `quotamesh sim`: plays the production core in virtual time, and judges. */
export function simCommand(): Command {
  const sim = new Command('sim').description('Play scenarios in virtual time on the production core, and judge them.');
  const commands = [
    listCommand(),
    runCommand(),
    compareCommand(),
    liveCommand(),
    swarmCommand(),
    strictCommand(),
    simReplayCommand(),
  ];
  for (const command of commands) sim.addCommand(command);
  return sim.addHelpText('after', HELP);
}

export interface RunOptions {
  readonly seed: number;
  readonly strategy: string;
  readonly seconds?: number;
  readonly json?: boolean;
  readonly html?: string;
}

export interface CompareOptions extends Pick<RunOptions, 'json' | 'html'> {
  readonly seeds: number;
}

export interface LiveCommandOptions extends Omit<RunOptions, 'strategy'> {
  readonly topic: LiveTopicKind;
  readonly brokers?: readonly string[];
  readonly brokerPid?: number;
  readonly maxRate: number;
}

export interface StrictOptions {
  readonly seeds: number;
  readonly from: number;
  readonly worlds?: number;
  readonly live?: number;
  readonly used?: boolean;
  readonly concurrency?: boolean;
  readonly keys?: boolean;
  readonly budget?: boolean;
  readonly json?: boolean;
}

export interface SwarmOptions {
  readonly seeds?: number;
  readonly from?: number;
  readonly seed?: number;
  readonly workers?: number;
  readonly json?: boolean;
}

function listCommand(): Command {
  return new Command('list')
    .description('The built-in scenarios, and the systems they can be played on.')
    .option('--json', 'JSON instead of a table')
    .addHelpText('after', LIST_HELP)
    .action(async ({ json = false }: { json?: boolean }) => (await import('./list-scenarios.js')).listScenarios(json));
}

function runCommand(): Command {
  return new Command('run')
    .description('Play one scenario on one system. Exit code 1 if it misses what the scenario expects of it.')
    .argument('<scenario>', SCENARIO)
    .option('--seed <number>', 'the same seed gives the same result, byte for byte', wholeNumber(0, 0xffffffff), 1)
    .option('--strategy <name>', 'a strategy of ours or another system; `sim list` names them', 'max-min')
    .option('--seconds <number>', SECONDS, wholeNumber(1, 3600))
    .option('--json', 'the whole result, with its series, as JSON')
    .option('--html <file>', 'also write a page with charts')
    .addHelpText('after', RUN_HELP)
    .action(lazily(async () => (await import('./run-one.js')).runOne));
}

function compareCommand(): Command {
  return new Command('compare')
    .description('Play one scenario on all systems, side by side. Exit code 1 if one misses what is expected of it.')
    .argument('<scenario>', SCENARIO)
    .option('--seeds <count>', 'seeds 1 … count; the table shows means', wholeNumber(1, 1000), 1)
    .option('--json', 'all results, without their series, as JSON')
    .option('--html <file>', 'also write a page with charts, of seed 1')
    .addHelpText('after', COMPARE_HELP)
    .action(lazily(async () => (await import('./compare-systems.js')).compareSystems));
}

function liveCommand(): Command {
  return new Command('live')
    .description('Play one scenario on real node processes of this machine, and judge it like a simulated one.')
    .argument('<scenario>', SCENARIO)
    .addOption(new Option('--topic <kind>', 'topic of the reports').choices(['embedded', 'kafka']).default('embedded'))
    .option('--brokers <list>', 'with --topic kafka: host:port, host:port, …', brokerList)
    .option('--broker-pid <pid>', 'with --topic kafka: the broker that an outage freezes', wholeNumber(2, 2 ** 31))
    .option('--seed <number>', 'arrivals are those of `sim run` with this seed', wholeNumber(0, 0xffffffff), 1)
    .option('--max-rate <number>', 'refuse scenarios with more requests/s than this', wholeNumber(1, 100_000), 2500)
    .option('--seconds <number>', SECONDS, wholeNumber(1, 3600))
    .option('--json', 'the whole result, with its series, as JSON')
    .option('--html <file>', 'also write a page with charts')
    .addHelpText('after', LIVE_HELP)
    .action(lazily(async () => (await import('./run-live.js')).runLive));
}

function swarmCommand(): Command {
  return new Command('swarm')
    .description('Random clusters under random load and faults: safety while they last, convergence after them.')
    .option('--seeds <count>', 'number of seeds (default: 100)', wholeNumber(1, 10_000_000))
    .option('--from <number>', 'the first seed (default: a new one each time)', wholeNumber(0, 0xffffffff))
    .option('--seed <number>', 'this one seed alone', wholeNumber(0, 0xffffffff))
    .option('--workers <count>', 'threads (default: one per core)', wholeNumber(1, 256))
    .option('--json', 'one JSON object per seed')
    .addHelpText('after', SWARM_HELP)
    .action(lazily(async () => (await import('./run-swarms.js')).runSwarms));
}

function strictCommand(): Command {
  return new Command('strict')
    .description('Random clusters with one strict bucket each, under every fault, judged by one central bucket.')
    .option('--seeds <count>', 'number of seeds', wholeNumber(1, 10_000_000), 100)
    .option('--from <number>', 'the first seed', wholeNumber(0, 0xffffffff), 1)
    .option(
      '--worlds <count>',
      'also play small worlds in every order, up to so many states',
      wholeNumber(1, 10_000_000),
    )
    .option('--live <count>', 'instead: so many real processes of this machine for 30 s', wholeNumber(2, 30))
    .option('--used', 'instead: what is used of the quota, by nodes, depth and delay')
    .option('--concurrency', 'instead: slots that requests hold and give back, counted at each moment')
    .option('--keys', 'instead: slots of keys that come and go')
    .option('--budget', 'instead: budgets, counted by a month’s account')
    .option('--json', 'one JSON object per seed')
    .addHelpText('after', STRICT_HELP)
    .action(lazily(async () => (await import('./run-strict.js')).runStrict));
}

const SECONDS = 'only the first so many seconds, and nothing is expected';
const SCENARIO = 'name of a built-in scenario, or a YAML file (docs/reference/scenarios.md)';

function brokerList(text: string): readonly string[] {
  const brokers = text.split(',').map((broker) => broker.trim());
  if (brokers.every((broker) => /^[^\s:]+:\d+$/.test(broker))) return brokers;
  throw new InvalidArgumentError('host:port, or several with commas between them.');
}

const EXIT_CODES =
  'Exit codes: 0 as expected, 1 expectations missed, 2 usage, 69 --html cannot be written, 78 mistakes in the scenario';

const HELP = `
Examples:
  quotamesh sim list
  quotamesh sim run skewed --seed 7
  quotamesh sim compare skewed --seeds 3
  quotamesh sim live crash
  quotamesh sim swarm --seeds 200`;

const LIST_HELP = `
Example:
  quotamesh sim list

Exit codes: 0 done, 2 usage.`;

const RUN_HELP = `
Examples:
  quotamesh sim run skewed
  quotamesh sim run my-scenario.yaml --seed 7 --strategy proportional
  quotamesh sim run skewed --json > result.json
  quotamesh sim run gtt/ActiveThrottling --strategy client-rate
  quotamesh sim run crash --html crash.html

${EXIT_CODES}.`;

const COMPARE_HELP = `
Examples:
  quotamesh sim compare skewed
  quotamesh sim compare my.yaml --seeds 5 --json

${EXIT_CODES}.`;

const LIVE_HELP = `
Takes as long as the scenario lasts. Only scenarios of open loads, rate, start, crash, leave, stall and outage (docs/guide/live-runs.md).

Examples:
  quotamesh sim live crash --seed 7
  quotamesh sim live my-scenario.yaml --topic kafka --brokers 127.0.0.1:9092 --json

Exit codes: 0 as expected; 1 expectations missed, or something failed; 2 usage; 69 no topic, a node failed, or --html cannot be
written; 78 mistakes in the scenario, or what it needs is not installed; 130 or 143 ended by a signal.`;

const SWARM_HELP = `
A seed that breaks a promise (docs/reference/promises.md) prints its plan and the line that plays it again. Ctrl-C ends the run with
a summary of what was played.

Examples:
  quotamesh sim swarm --seeds 100000 --from 1 --workers 2
  quotamesh sim swarm --seed 8103

Exit codes: 0 every seed that was played kept the promises, 1 one did not, 2 usage.`;

const STRICT_HELP = `
What strict buckets are: docs/decisions/0181-strict-buckets.md. --live freezes one of its processes past the
expiry, kills another, and judges what their clients were granted.

Examples:
  quotamesh sim strict --seeds 10000
  quotamesh sim strict --from 13 --seeds 1 --json
  quotamesh sim strict --worlds 50000
  quotamesh sim strict --live 5
  quotamesh sim strict --used
  quotamesh sim strict --concurrency --seeds 1000
  quotamesh sim strict --keys --seeds 100
  quotamesh sim strict --budget --seeds 1000

Exit codes: 0 no token over, 1 some were, 2 usage.`;
