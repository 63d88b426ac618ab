import { Command } from 'commander';
import { lazily } from '../../terminal/command-parts.js';

export interface RunOptions {
  readonly config: string;
  readonly node?: string;
  readonly http?: string;
  readonly printConfig?: boolean;
}

export function runCommand(): Command {
  return new Command('run')
    .description('Run one node until SIGTERM or SIGINT.')
    .requiredOption('-c, --config <file>', 'configuration: a YAML file, or a folder of them')
    .option('-n, --node <id>', 'node id; unique in the cluster (default: host name and HTTP port)')
    .option(
      '--http <address>',
      'address of HTTP, host:port or unix:/path; port 0 = any free one, shown in the log (default: 127.0.0.1:7070)',
    )
    .option('--print-config', 'print the effective configuration, secrets masked, and exit')
    .addHelpText('after', HELP)
    .action(lazily(async () => (await import('./run-node.js')).runNode));
}

const HELP = `
A flag wins over the environment (QUOTAMESH_HTTP_PORT=7071), that over the file, that over the defaults (docs/reference/settings.md).
Groups follow the files when they change (docs/operate/administration.md); SIGHUP reads them at once.
The log is written to standard output, one JSON object per line.

Examples:
  quotamesh run --config node.yaml
  quotamesh run --config node.yaml --node b --http 127.0.0.1:7071
  QUOTAMESH_LOG_LEVEL=debug quotamesh run --config node.yaml
  quotamesh run --config node.yaml --print-config

Exit codes: 0 ended by a signal, 1 unexpected, 2 usage, 69 no topic or address taken, 78 configuration, or not allowed.`;
