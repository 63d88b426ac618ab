import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { groupNames, nodeAddress } from '../../node-client/node-requests.js';

/** Milliseconds for whoever presses the tab key. */
const PATIENCE_MS = 500;

/** Prints one name a line, of those read in time. */
export async function printGroupNames(options: NodeCommandOptions): Promise<void> {
  const names = await groupNames(nodeAddress(options), PATIENCE_MS);
  process.stdout.write(names.map((name) => `${name}\n`).join(''));
}
