import { Command } from 'commander';
import { lazily } from '../../terminal/command-parts.js';

export interface RecordCommandOptions {
  readonly config: string;
  readonly out: string;
  readonly for?: string;
}

export function recordCommand(): Command {
  return new Command('record')
    .description(
      "Save the live report topic of a cluster to a file, for `quotamesh sim replay`. Changes nobody's share.",
    )
    .requiredOption(
      '-c, --config <file>',
      'configuration of any node of the cluster, YAML; its topic must be one that processes share',
    )
    .requiredOption('-o, --out <file>', 'file to write; must not exist')
    .option('--for <duration>', 'stop after this time (default: at SIGINT or SIGTERM)')
    .addHelpText('after', HELP)
    .action(lazily(async () => (await import('./record-topic.js')).runRecord));
}

const HELP = `
The file has every record of the topic with its partition, offset and append time, and the settings of the groups; no
credentials. It is written ten times a second, so that whatever ends the recorder, the file can be replayed up to there.

Examples:
  quotamesh record --config node.yaml --out incident.qmrec
  quotamesh record --config node.yaml --out incident.qmrec --for 10m
  quotamesh sim replay incident.qmrec --html incident.html

Exit codes: 0 done, also at a signal; 2 usage; 69 no topic; 78 configuration, not allowed, or the file cannot be written.`;
