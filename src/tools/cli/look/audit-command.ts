import type { Command } from 'commander';
import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { lazily } from '../../terminal/command-parts.js';
import { nodeCommand } from './node-command.js';

export interface AuditOptions extends NodeCommandOptions {
  readonly group?: string;
  readonly scope?: string;
  readonly after?: string;
  readonly follow?: boolean;
}

export function auditCommand(): Command {
  return nodeCommand('audit', 'Print who changed which group or attachment at run time, oldest first.')
    .option('--group <name>', 'only changes of this group')
    .option('--scope <path>', 'only changes of what this scope is attached to: acme, acme/orders')
    .option('--after <revision>', 'only changes with a higher revision')
    .option('--follow', 'go on with changes as they come, until Ctrl-C')
    .option('--json', 'a JSON object per line, with what was before and what is after')
    .addHelpText('after', HELP)
    .action(lazily(async () => (await import('./show-audit.js')).showAudit));
}

const HELP = `
A line: revision, time, node that was asked, who (how that is known), what, and the keys that changed. The newest
registry.auditedChanges are kept, the same at every node; older ones stand in the log of the node that was asked.

Examples:
  quotamesh audit --group orders
  quotamesh audit --follow
  quotamesh audit --json | jq -r 'select(.what == "deleted") | [.time, .who.name, .name] | @tsv'

Exit codes: 0 done, 2 usage, 69 no node, 78 refused.`;
