import { Command, InvalidArgumentError } from 'commander';

export function nodeCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--url <url>', 'address of any node of the cluster, or unix:/path of its socket', 'http://127.0.0.1:7070')
    .option('--token <token>', 'token of the caller; a file or QUOTAMESH_TOKEN keeps it out of lists of processes')
    .option('--token-file <file>', 'a file with the token')
    .option('--ca <file>', 'PEM file of the authority of the node’s certificate')
    .option('--cert <file>', 'PEM file with a client certificate')
    .option('--key <file>', 'PEM file with its key');
}

/** Reads seconds of an option, from 0.1 on. */
export function seconds(max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (value >= 0.1 && value <= max) return value;
    throw new InvalidArgumentError(`It must be a number of seconds between 0.1 and ${max}.`);
  };
}
