import { Command, Option } from 'commander';
import { lazily } from '../../terminal/command-parts.js';
import { MEETING_KINDS, MEETINGS } from './meetings.js';

export interface InitOptions {
  readonly cluster: string;
  readonly group?: string;
  readonly key?: string;
  readonly quota?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
  /** Flags of MEETINGS. */
  readonly [flag: string]: string | boolean | undefined;
}

export function initCommand(): Command {
  const command = new Command('init')
    .description('Write a commented configuration, after two questions: the meeting place of the nodes, and the quota.')
    .argument('[file]', 'file to write', 'node.yaml')
    .option('--cluster <name>', 'nodes of clusters with other names do not see each other', 'demo');
  for (const kind of MEETING_KINDS) {
    const { takes, says, further } = MEETINGS[kind];
    const others = MEETING_KINDS.filter((other) => other !== kind);
    command.addOption(new Option(takes === null ? `--${kind}` : `--${kind} ${takes}`, says).conflicts(others));
    if (further !== undefined) command.option(`--${further.flag} ${further.takes}`, further.says);
  }
  return command
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
  quotamesh init /etc/quotamesh/node.yaml --group orders --quota 5k/s
  quotamesh init --yes

Exit codes: 0 written, 2 usage, or the file exists, 69 it cannot be written.`;
