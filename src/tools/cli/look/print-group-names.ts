import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { groupNames, nodeAddress } from '../../node-client/node-requests.js';

/** Who presses the tab key waits no longer. */
const PATIENCE_MS = 500;

/** One a line: those that the node has told in time. */
export async function printGroupNames(options: NodeCommandOptions): Promise<void> {
  const names = await groupNames(nodeAddress(options), PATIENCE_MS);
  process.stdout.write(names.map((name) => `${name}\n`).join(''));
}
