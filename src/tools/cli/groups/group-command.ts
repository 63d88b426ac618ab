import { Command } from 'commander';
import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { lazily } from '../../terminal/command-parts.js';
import { nodeCommand } from '../look/node-command.js';

export interface GroupOptions extends NodeCommandOptions {
  readonly ifRevision?: string;
  readonly file?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly tenant?: string;
  readonly namespace?: string;
  readonly topic?: string;
  readonly client?: string;
  readonly header?: readonly string[];
  readonly exempt?: boolean;
  readonly sameAs?: string;
  readonly andBroader?: boolean;
  readonly all?: boolean;
}

/** `quotamesh group`: changes groups at run time, at any node for the whole cluster. */
export function groupCommand(): Command {
  const group = new Command('group').description('Make, change, show and delete groups of a running cluster.');
  child(group, 'list', 'Print all groups with their quotas and their origin.').action(
    lazily(async () => (await import('./change-groups.js')).listGroups),
  );
  child(group, 'get', 'Print a group as YAML would write it.')
    .argument('<group>', 'a group')
    .action(lazily(async () => (await import('./change-groups.js')).getGroup));
  child(group, 'set', 'Make a group, or change settings of it; `setting=null` takes one away.')
    .argument('<group>', 'a group, perhaps a new one')
    .argument('[setting=value...]', 'settings of a group (docs/reference/settings.md), values as in YAML')
    .option('--file <yaml>', 'the whole group from a YAML file, instead of single settings')
    .option('--if-revision <revision>', 'only if the group has this revision; none = only if it is new')
    .option('--dry-run', DRY_RUN)
    .action(lazily(async () => (await import('./change-groups.js')).setGroup));
  child(group, 'delete', 'Delete the definition of run time; the group of YAML, if there is one, is in force again.')
    .argument('<group>', 'a group')
    .option('--if-revision <revision>', 'only if the group has this revision')
    .option('--dry-run', DRY_RUN)
    .option('--force', 'detach its scopes of run time, too; else a group in use stays')
    .action(lazily(async () => (await import('./change-groups.js')).deleteGroupAtNode));
  child(group, 'export', 'Print YAML of the groups and attachments made at run time; with `--all` of all in force.')
    .option('--all', 'those of YAML, too; `group apply` makes them groups of run time')
    .action(lazily(async () => (await import('./change-groups.js')).exportGroups));
  child(group, 'apply', 'Make and change groups and attachments as files say, after a diff; all others stay.')
    .requiredOption(
      '-f, --file <path>',
      'YAML with groups and attachments.scopes, or a folder of such files, as `group export` writes them',
    )
    .option('--yes', 'do not ask before anything changes')
    .option('--dry-run', 'print the diff and change nothing')
    .action(lazily(async () => (await import('./apply-groups.js')).applyGroups));
  addAttachmentCommands(group);
  return group.addHelpText('afterAll', HELP);
}

const DRY_RUN = 'change nothing; print the shares before and after, as the last reports give them';

function addAttachmentCommands(group: Command): void {
  withScope(group, 'attach', 'Attach a tenant, namespace or topic to a group; or exempt it.')
    .argument('[group]', 'a group; left out with --exempt and --same-as')
    .option('--exempt', 'nothing limits it; it is counted apart')
    .option(
      '--same-as <scope>',
      'attached to the groups of this scope: tenant, tenant/namespace or tenant/namespace/topic',
    )
    .option('--and-broader', 'the groups of the broader scopes are enforced too; the stricter wins')
    .option('--if-revision <revision>', 'only if the attachment has this revision; none = only if it is new')
    .action(lazily(async () => (await import('./attach-groups.js')).attachScope));
  withScope(group, 'detach', 'Detach a scope that was attached at run time; its attachment in YAML is in force again.')
    .option('--if-revision <revision>', 'only if the attachment has this revision')
    .action(lazily(async () => (await import('./attach-groups.js')).detachScope));
  withScope(group, 'which', 'Print the groups that limit work of a scope, and the reasons.')
    .option('--client <client>', 'client identity')
    .option('--header <name:value...>', 'headers of the work')
    .action(lazily(async () => (await import('./attach-groups.js')).whichGroups));
}

function withScope(parent: Command, name: string, description: string): Command {
  return child(parent, name, description)
    .option('--tenant <tenant>', 'a tenant')
    .option('--namespace <namespace>', 'of the tenant')
    .option('--topic <topic>', 'of the namespace');
}

/** Adds a command that asks a node. */
export function child(parent: Command, name: string, description: string): Command {
  const added = nodeCommand(name, description).option('--json', 'JSON instead of text');
  parent.addCommand(added);
  return added;
}

const HELP = `
A change is answered when the log has decided; every node has it within one delivery (docs/operate/administration.md).

Examples:
  quotamesh group list
  quotamesh group set orders quota.publish.messagesPerSecond=5k quota.publish.bytesPerSecond=10MiB
  quotamesh group set orders --file orders.yaml --if-revision 17
  quotamesh group set orders quota.publish.messagesPerSecond=2k --dry-run
  quotamesh group set alerts quota.publish.messagesPerSecond=5/min
  quotamesh group get orders --json | jq .definition
  quotamesh group apply -f groups/ --dry-run
  quotamesh group delete orders
  quotamesh group export > groups.yaml
  quotamesh group attach gold --tenant acme
  quotamesh group attach orders --tenant acme --namespace orders --and-broader
  quotamesh group which --tenant acme --namespace orders --topic invoices
  quotamesh group detach --tenant acme

Exit codes: 0 done, 2 usage or unknown group, 69 no node or no decision, 78 refused: wrong values, another revision, or the caller.`;
