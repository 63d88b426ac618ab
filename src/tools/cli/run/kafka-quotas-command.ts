import { Command } from 'commander';
import type { RunOptions } from './run-command.js';

export interface KafkaQuotasOptions extends RunOptions {
  readonly adopt?: boolean;
  readonly release?: boolean;
}

export function kafkaQuotasCommand(): Command {
  return new Command('kafka-quotas')
    .description('Keep client quotas of a whole Kafka cluster, with one node inside, until SIGTERM or SIGINT.')
    .requiredOption(
      '-c, --config <file>',
      'configuration: a YAML file, or a folder of them; kafkaQuotas: gives Kafka clients their groups',
    )
    .option(
      '-n, --node <id>',
      'node id; unique in the cluster, the lowest one alive writes (default: host name and HTTP port)',
    )
    .option('--http <address>', 'address of HTTP (status, metrics), host:port or unix:/path (default: 127.0.0.1:7070)')
    .option('--adopt', 'take over quotas that somebody else has set; --release puts the old values back')
    .option('--release', 'put back the quotas from before quotamesh, and exit; keepers must be stopped first')
    .option('--print-config', 'print the effective configuration, secrets masked, and exit')
    .addHelpText('after', HELP)
    .action(async (options: KafkaQuotasOptions) => {
      if (options.release === true) await (await import('./release-kafka-quotas.js')).release(options);
      else await (await import('./run-node.js')).runKafkaQuotas(options);
    });
}

const HELP = `
Kafka enforces producer_byte_rate and consumer_byte_rate at each broker. This command reads from the JMX exporters what
every broker has, and writes the one value with which all of them together hold the quota of the group.
Any number of keepers may run; one of them writes. When all are gone, the last values stay. More: docs/guide/kafka-quotas.md.

Examples:
  quotamesh kafka-quotas --config keeper.yaml
  quotamesh kafka-quotas --config keeper.yaml --node b --http 127.0.0.1:7071
  quotamesh kafka-quotas --config keeper.yaml --adopt
  quotamesh kafka-quotas --config keeper.yaml --release
  curl http://127.0.0.1:7070/v1/kafka-quotas

Exit codes: 0 ended by a signal, or released; 1 unexpected; 2 usage; 69 no topic, address taken, or keepers alive; 78 configuration, or not allowed.`;
