import type { StatusOptions } from './status-command.js';

export async function showStatus({ url }: StatusOptions): Promise<void> {
  const response = await fetch(new URL('/v1/nodes', url));
  process.stdout.write(`${await response.text()}\n`);
}
