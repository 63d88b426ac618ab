import { Command, InvalidArgumentError, Option } from 'commander';
import { ROLES, type Role } from '../../../base/access/caller.js';
import { print } from '../../terminal/print.js';

interface TokenOptions {
  readonly name: string;
  readonly role: readonly Role[];
  readonly tenant?: readonly string[];
  readonly json?: boolean;
}

/** `quotamesh token`: makes tokens for `auth:`. */
export function tokenCommand(): Command {
  const make = new Command('new')
    .description('Print a new token, once, and the line of YAML that lets it in.')
    .requiredOption('--name <name>', 'name of its holder; stands in the audit log', name)
    .addOption(new Option('--role <role...>', 'roles of the token').choices(ROLES).makeOptionMandatory())
    .option('--tenant <tenant...>', 'changes are limited to attachments of these tenants')
    .option('--json', 'JSON instead of text')
    .addHelpText('after', HELP)
    .action(printToken);
  return new Command('token').description('Make tokens of the section auth.').addCommand(make);
}

async function printToken({ name, role: roles, tenant: tenants, json }: TokenOptions): Promise<void> {
  const { newToken, writtenHash } = await import('../../../base/access/token.js');
  const token = newToken();
  const entry = { name, roles, ...(tenants === undefined ? {} : { tenants }), hash: writtenHash(token) };
  if (json === true) {
    print(JSON.stringify({ token, entry }));
    return;
  }
  const line = Object.entries(entry).map(
    ([key, value]) => `${key}: ${Array.isArray(value) ? `[${value.join(', ')}]` : value}`,
  );
  print(token);
  process.stderr.write('The token is above; it is shown this once. Below auth.tokens, or in the file that it names:\n');
  process.stdout.write(`- { ${line.join(', ')} }\n`);
}

function name(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(text)) return text;
  throw new InvalidArgumentError(
    'It must have 1 to 128 letters, digits and . _ : -, and start with a letter or digit.',
  );
}

const MAY: Readonly<Record<Role, string>> = {
  viewer: 'looks',
  traffic: 'acquires',
  consume: 'acquires, also with priority: immediate, which no quota refuses',
  operator: 'looks, and changes groups, templates of keys, attachments and backends',
  admin: 'may do everything',
};

const HELP = `
Only the hash is written down: a token that is lost is replaced. Roles (docs/operate/access.md):
${Object.entries(MAY)
  .map(([role, may]) => `  ${role.padEnd(8)} ${may}`)
  .join('\n')}

Examples:
  quotamesh token new --name ci --role operator
  quotamesh token new --name gateway --role traffic viewer
  quotamesh token new --name acme-team --role operator --tenant acme --json

Exit codes: 0 done, 2 usage.`;
