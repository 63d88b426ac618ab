import { Command, Option } from 'commander';
import { lazily } from '../../terminal/command-parts.js';

export interface InitOptions {
  readonly cluster: string;
  readonly kafka?: string;
  readonly topic?: string;
  readonly redis?: string;
  readonly embedded?: boolean;
  readonly group?: string;
  readonly key?: string;
  readonly quota?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
}

export function initCommand(): Command {
  return new Command('init')
    .description('Write a commented configuration, after two questions: the meeting place of the nodes, and the quota.')
    .argument('[file]', 'file to write', 'node.yaml')
    .option('--cluster <name>', 'nodes of clusters with other names do not see each other', 'demo')
    .addOption(
      new Option('--kafka <brokers>', 'the nodes meet in this Kafka, host:port,…').conflicts(['redis', 'embedded']),
    )
    .option('--topic <name>', 'the topic in Kafka (default: quotamesh-reports)')
    .addOption(new Option('--redis <addresses>', 'the nodes meet in this Redis, host:port').conflicts('embedded'))
    .option('--embedded', 'the nodes of this machine meet in a folder beside the file')
    .addOption(new Option('--group <name>', 'one quota, of the group of this name').conflicts('key'))
    .option('--key <pattern>', 'a quota for each name like this, e.g. "key:{id}"')
    .option('--quota <rate>', 'the rate: 1000/s, 300/min, 1MiB/s')
    .option('-y, --yes', 'ask nothing: defaults for all that no flag says')
    .option('--force', 'replace the file if it exists')
    .addHelpText('after', HELP)
    .action(lazily(async () => (await import('./write-config.js')).writeConfig));
}

const HELP = `
A flag replaces its question. Without a terminal, flags say everything, or --yes takes the defaults: the folder ./state,
and 1000/s for the group orders.

Examples:
  npx quotamesh init
  quotamesh init --kafka kafka-1:9092,kafka-2:9092 --key "key:{id}" --quota 600/min
  quotamesh init /etc/quotamesh/node.yaml --redis 10.0.0.5:6379 --group orders --quota 5k/s
  quotamesh init --yes

Exit codes: 0 written, 2 usage, or the file exists, 69 it cannot be written.`;
