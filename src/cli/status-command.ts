import { Command } from 'commander';

export interface StatusOptions {
  readonly url: string;
  readonly json?: boolean;
  readonly watch?: boolean;
}

export function statusCommand(): Command {
  return new Command('status')
    .description('Print the live table of a running cluster, as one of its nodes sees it.')
    .option('--url <url>', 'address of any node of the cluster', 'http://127.0.0.1:7070')
    .option('--json', 'JSON instead of a table')
    .option('--watch', 'go on until Ctrl-C, once a second')
    .action(async (options: StatusOptions) => {
      const { showStatus } = await import('./show-status.js');
      await showStatus(options);
    });
}
