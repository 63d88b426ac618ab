import { Command } from 'commander';
import { lazily } from '../../terminal/command-parts.js';

/** `quotamesh envoy`: looks at what Envoy's rate limit service is configured with. */
export function envoyCommand(): Command {
  const check = new Command('check')
    .description('Show what each rule of envoyproxy/ratelimit becomes, and what is not supported, by line.')
    .argument('<rules>', 'a YAML file of ratelimit, or a folder of them')
    .option('--domain <domain>', 'with --descriptor: the domain that Envoy sends')
    .option('--descriptor <entries>', 'key=value,key=value: show which rule such a descriptor finds, and its bucket')
    .option('--json', 'JSON instead of text: valid, domains, rules, notes, mistakes, found')
    .addHelpText('after', HELP)
    .action(lazily(async () => (await import('./check-rules.js')).checkRules));
  return new Command('envoy').description('Rules of Envoy’s rate limit service.').addCommand(check);
}

const HELP = `
A rule with a value for every key becomes a group; one without a value, or with a wildcard, a template of keys: each
value has a limit of its own. The notes name what is read and changes nothing.

Examples:
  quotamesh envoy check /srv/ratelimit/config
  quotamesh envoy check rules.yaml --domain messaging --descriptor message_type=marketing,to_number=2061111111
  quotamesh envoy check rules.yaml --json | jq -r '.rules[] | "\\(.line) \\(.becomes) \\(.bucket)"'

Exit codes: 0 valid, 2 usage, 78 mistakes, or it cannot be read.`;
