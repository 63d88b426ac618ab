import { Command } from 'commander';
import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { lazily } from '../../terminal/command-parts.js';
import { child, type GroupOptions } from './group-command.js';

export type KeyOptions = NodeCommandOptions & Pick<GroupOptions, 'ifRevision' | 'dryRun' | 'file'>;

/** `quotamesh key`: changes keys and templates, at any node for the whole cluster. */
export function keyCommand(): Command {
  const key = new Command('key').description('Keys: groups that templates make by use.');
  child(key, 'show', 'Show a key as the node that is asked knows it, also one that others use.')
    .argument('<key>', 'a name that a template of `keys:` makes')
    .action(lazily(async () => (await import('./show-key.js')).showKey));
  addChanges(key, 'key', 'the settings of a single key', '<key>');
  child(key, 'apply', 'Make templates and keys of run time as a back-up of GET /v1/key-templates says.')
    .requiredOption('-f, --file <json>', 'the answer of GET /v1/key-templates')
    .option('--dry-run', DRY_RUN)
    .action(lazily(async () => (await import('./apply-keys.js')).applyKeys));
  const template = new Command('template').description('Templates of keys: one record for all keys of one.');
  child(
    template,
    'list',
    'Print the templates in force, and keys that run time has given settings of their own.',
  ).action(lazily(async () => (await import('./change-keys.js')).listTemplates));
  addChanges(template, 'template', 'a template', '<pattern>');
  return key.addCommand(template).addHelpText('afterAll', HELP);
}

function addChanges(parent: Command, kind: 'key' | 'template', what: string, argument: string): void {
  child(parent, 'get', `Print ${what} as YAML would write it.`)
    .argument(argument)
    .action(async (name: string, options: KeyOptions) => {
      await (await import('./change-keys.js')).getKeys({ kind, name }, options);
    });
  child(parent, 'set', `Make ${what}, or change settings of it; \`setting=null\` takes one away.`)
    .argument(argument)
    .argument('[setting=value...]', 'settings of a group (docs/reference/settings.md), values as in YAML')
    .option('--file <yaml>', 'all of it from a YAML file, instead of single settings')
    .option('--if-revision <revision>', 'only if it has this revision; none = only if it is new')
    .option('--dry-run', DRY_RUN)
    .action(async (name: string, pairs: readonly string[], options: KeyOptions) => {
      await (await import('./change-keys.js')).setKeys({ kind, name }, pairs, options);
    });
  child(parent, 'delete', 'Delete the definition of run time; that of YAML, if there is one, is in force again.')
    .argument(argument)
    .option('--if-revision <revision>', 'only if it has this revision')
    .option('--dry-run', DRY_RUN)
    .action(async (name: string, options: KeyOptions) => {
      await (await import('./change-keys.js')).deleteKeysAtNode({ kind, name }, options);
    });
}

const DRY_RUN = 'change nothing, and show it before and after';

const HELP = `
Examples:
  quotamesh key show key:alice
  quotamesh key show key:alice --json | jq .leftUnpublished.publish
  quotamesh key template list
  quotamesh key template get 'key:{id}'
  quotamesh key template set 'key:{id}' quota.publish.messagesPerSecond=600/min
  quotamesh key template set 'key:{id}' burst=60 --dry-run
  quotamesh key template delete 'key:{id}' --if-revision 17
  quotamesh key get key:acme
  quotamesh key set key:acme quota.publish.messagesPerSecond=6000/min
  quotamesh key delete key:acme
  quotamesh key apply -f keys.json --dry-run

Exit codes: 0 done, 2 usage or unknown key, 69 no node or no decision, 78 refused: wrong values, another revision, or the caller.`;
