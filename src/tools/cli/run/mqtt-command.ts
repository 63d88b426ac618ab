import { Command } from 'commander';
import { lazily } from '../../terminal/command-parts.js';
import type { RunOptions } from './run-command.js';

export interface MqttOptions extends RunOptions {
  readonly mqtt?: string;
}

export function mqttCommand(): Command {
  return new Command('mqtt')
    .description('Run an MQTT broker with one node inside, until SIGTERM or SIGINT.')
    .requiredOption(
      '-c, --config <file>',
      'configuration: a YAML file, or a folder of them; its rules below mqtt: give clients and topics their groups',
    )
    .option('-n, --node <id>', 'node id; unique in the cluster (default: host name and HTTP port)')
    .option('--mqtt <host:port>', 'address of MQTT; port 0 = any free one, shown in the log (default: 127.0.0.1:1883)')
    .option(
      '--http <address>',
      'address of HTTP (status, metrics, acquires), host:port or unix:/path (default: 127.0.0.1:7070)',
    )
    .option('--print-config', 'print the effective configuration, secrets masked, and exit')
    .addHelpText('after', HELP)
    .action(lazily(async () => (await import('./run-node.js')).runMqtt));
}

const HELP = `
MQTT 3.1 and 3.1.1. A publisher over its quota is not refused: its connection is not read until it is its turn.
With auth: in the configuration the password of a client is its token (docs/operate/access.md). Rules, bounds and figures: docs/guide/mqtt.md.

Examples:
  quotamesh mqtt --config examples/mqtt-broker/broker.yaml
  quotamesh mqtt --config broker.yaml --node b --mqtt 127.0.0.1:1884 --http 127.0.0.1:7071
  curl http://127.0.0.1:7070/v1/mqtt

Exit codes: 0 ended by a signal, 1 unexpected, 2 usage, 69 no topic or address taken, 78 configuration, or not allowed.`;
