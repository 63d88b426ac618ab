import { GROUP_NAME } from '../../../config/setting/setting.js';
import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { groupNames, nodeAddress } from '../../node-client/node-requests.js';

/** Milliseconds for whoever presses the tab key. */
const PATIENCE_MS = 500;

/** Prints names read in time, one a line. *Why:* shells could run what is no name. */
export async function printGroupNames(options: NodeCommandOptions): Promise<void> {
  const names = await groupNames(nodeAddress(options), PATIENCE_MS);
  const usable = names.filter((name) => GROUP_NAME.matches.test(name));
  process.stdout.write(usable.map((name) => `${name}\n`).join(''));
}
