import { Command } from 'commander';
import { lazily } from '../../terminal/command-parts.js';
import { seconds } from '../look/node-command.js';

export interface DoctorOptions {
  readonly node?: string;
  readonly http?: string;
  readonly timeout: number;
  readonly json?: boolean;
}

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Look at a configuration and its needs: topic, rights, ports, folders, clocks. Changes nothing.')
    .argument('[file]', 'configuration: a YAML file, or a folder of them', 'node.yaml')
    .option('-n, --node <id>', 'as for run')
    .option('--http <address>', 'as for run')
    .option('--timeout <seconds>', 'deadline of each look', seconds(600), 5)
    .option('--json', 'JSON instead of text: sound, findings')
    .addHelpText('after', HELP)
    .action(lazily(async () => (await import('./show-findings.js')).showFindings));
}

const HELP = `
Run it on the machine and as the user of the node. ✓ is good, ! works and is worth knowing, ✗ is wrong: its error and remedy
are those of docs/reference/errors.md. - marks a look that was not possible.

Examples:
  quotamesh doctor
  quotamesh doctor /etc/quotamesh --http 0.0.0.0:7070
  quotamesh doctor node.yaml --json | jq -r '.findings[] | select(.state == "wrong") | .remedy'

Exit codes: 0 nothing is wrong; otherwise that of the first error: 69 unavailable, 78 configuration or rights; 2 usage.`;
