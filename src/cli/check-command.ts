import { Command } from 'commander';

export function checkCommand(): Command {
  return new Command('check')
    .description('Validate a configuration; every mistake with line and remedy.')
    .argument('<file>', 'configuration, YAML')
    .addHelpText('after', '\nExample:\n  quotamesh check node.yaml')
    .action(async (file: string) => {
      const { loadConfig } = await import('../config/load-config.js');
      const config = await loadConfig({ file, env: process.env });
      process.stdout.write(`${file}: valid; cluster ${config.cluster}, ${countOf(config.groups.length, 'group')}\n`);
    });
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
