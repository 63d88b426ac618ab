import { Command } from 'commander';
import { print } from '../../terminal/print.js';
import type { MqttOptions } from '../run/mqtt-command.js';

interface ConfigShowOptions extends MqttOptions {
  readonly json?: boolean;
  readonly given?: boolean;
}

export function configCommand(): Command {
  const show = new Command('show')
    .description('Print the effective configuration, secrets masked, with the source of each value.')
    .requiredOption('-c, --config <file>', 'configuration: a YAML file, or a folder of them')
    .option('-n, --node <id>', 'as for run')
    .option('--http <host:port>', 'as for run')
    .option('--mqtt <host:port>', 'as for mqtt')
    .option('--given', 'only what is not a default')
    .option('--json', 'JSON instead of a table')
    .action(showConfig);
  return new Command('config').description('Look at a configuration.').addCommand(show).addHelpText('afterAll', HELP);
}

async function showConfig({ config: file, node: nodeId, http, mqtt, ...options }: ConfigShowOptions): Promise<void> {
  const { settingSources } = await import('../../../config/describe/setting-sources.js');
  const { textTable } = await import('../../terminal/text-table.js');
  const all = await settingSources({ file, env: process.env, overrides: { nodeId, http, mqtt } });
  const settings = options.given === true ? all.filter(({ source }) => source !== 'default') : all;
  if (options.json === true) {
    print(JSON.stringify({ settings }));
    return;
  }
  const rows = settings.map(({ key, value, source }) => {
    return [key, typeof value === 'string' ? value : JSON.stringify(value), source];
  });
  print(textTable(['KEY', 'VALUE', 'SOURCE'], rows).join('\n'));
}

const HELP = `
SOURCE: default, a file and its line, an environment variable, or a flag; later ones win. \`run --print-config\` prints the
same values as YAML.

Examples:
  quotamesh config show --config node.yaml --given
  QUOTAMESH_HTTP_PORT=7071 quotamesh config show --config /etc/quotamesh | grep http
  quotamesh config show --config node.yaml --json | jq -r '.settings[] | select(.source == "default") | .key'

Exit codes: 0 done, 2 usage, 78 mistakes in the configuration.`;
