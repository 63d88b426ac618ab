import { fetchClusterStatus } from '../../node-client/cluster-status.js';
import { nodeAddress } from '../../node-client/node-requests.js';
import { print } from '../../terminal/print.js';
import type { StatusOptions } from './status-command.js';
import { ALL, statusTable } from './status-table.js';

export async function showStatus(options: StatusOptions): Promise<void> {
  const { group = [], groups, all = false, json = false } = options;
  const status = await fetchClusterStatus(nodeAddress(options), group, all ? Infinity : groups);
  print(json ? JSON.stringify(status) : statusTable(status, all ? ALL : undefined));
}
