import { Command } from 'commander';

/** A command that asks a running node. */
export function askingCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--url <url>', 'address of any node of the cluster', 'http://127.0.0.1:7070');
}
