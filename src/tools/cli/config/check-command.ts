import { Command } from 'commander';
import type { ResolvedConfig } from '../../../config/resolved/resolved-config.js';
import { wholeNumber } from '../../terminal/command-parts.js';
import { contentText } from '../../terminal/content-text.js';
import { print } from '../../terminal/print.js';

export function checkCommand(): Command {
  return new Command('check')
    .description('Validate a configuration; every mistake with line and remedy.')
    .argument('<file>', 'configuration: a YAML file, or a folder of them')
    .option('--nodes <n>', 'nodes that share strict groups (default: start.nodeCount, or 3)', wholeNumber(1, 10_000))
    .option(
      '--delivery <ms>',
      'milliseconds to the log, for strict groups (default: 5, to Kafka 20)',
      wholeNumber(1, 100),
    )
    .option('--json', 'JSON instead of text: valid, mistakes, strict')
    .addHelpText('after', HELP)
    .action(check);
}

interface CheckOptions {
  readonly nodes?: number;
  readonly delivery?: number;
  readonly json?: boolean;
}

async function check(file: string, { json = false, ...asked }: CheckOptions): Promise<void> {
  const { loadConfig } = await import('../../../config/files/load-config.js');
  const { ConfigError } = await import('../../../config/setting/config-error.js');
  const { EXIT_CONFIG } = await import('../../../base/errors/error-row.js');
  try {
    const config = await withRulesOf(await loadConfig({ file, env: process.env }));
    const { strictUses, strictUseText } = await import('../../../config/resolved/strict-used.js');
    const { cluster, groups, keys } = config;
    const strict = strictUses(config, asked);
    const keyPatterns = keys.templates.length;
    const said = { valid: true, cluster, groups: groups.length, keyPatterns, strict, mistakes: [] };
    const lines = [`${file}: valid; ${contentText(config)}`, ...strict.map(strictUseText)];
    print(json ? JSON.stringify(said) : lines.join('\n'));
  } catch (error) {
    if (!json || !(error instanceof ConfigError)) throw error;
    print(JSON.stringify({ valid: false, mistakes: error.mistakes }));
    process.exitCode = EXIT_CONFIG;
  }
}

/** Adds the rules that a configuration names, with their mistakes. */
async function withRulesOf(config: ResolvedConfig): Promise<ResolvedConfig> {
  const { rules: path } = config.envoy;
  if (path === null) return config;
  const { loadRules } = await import('../../../doors/envoy/rules/load-rules.js');
  const { withRules } = await import('../../../doors/envoy/rules/with-rules.js');
  return withRules(config, loadRules(path).rules, path);
}

const HELP = `
Examples:
  quotamesh check node.yaml
  quotamesh check node.yaml --nodes 10 --delivery 50
  quotamesh check /etc/quotamesh --json | jq -r '.mistakes[] | "\\(.file):\\(.line): \\(.problem)"'

Exit codes: 0 valid, 2 usage, 78 mistakes, or it cannot be read.`;
