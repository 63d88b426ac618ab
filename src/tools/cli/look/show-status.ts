import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterStatus, fetchClusterStatus } from '../../node-client/cluster-status.js';
import { nodeAddress } from '../../node-client/node-requests.js';
import { describeError } from '../../terminal/exit.js';
import { print } from '../../terminal/print.js';
import type { StatusOptions } from './status-command.js';
import { ALL, statusTable } from './status-table.js';

/** `quotamesh status`: prints once, or once a second until Ctrl-C. */
export async function showStatus({
  group = [],
  groups,
  all = false,
  json = false,
  watch = false,
  ...options
}: StatusOptions): Promise<void> {
  const asked = nodeAddress(options);
  const render = (status: ClusterStatus) =>
    json ? JSON.stringify(status) : statusTable(status, all ? ALL : undefined);
  const fetch = () => fetchClusterStatus(asked, group, all ? Infinity : groups);
  if (!watch) {
    print(render(await fetch()));
    return;
  }
  // In place on a terminal; one after the other into a file or a pipe.
  const clear = process.stdout.isTTY && !json ? '\x1b[H\x1b[J' : '';
  for (;;) {
    const text = await fetch().then(render, describeError);
    process.stdout.write(`${clear}${text}\n${clear === '' && !json ? '\n' : ''}`);
    await sleep(WATCH_INTERVAL_MS);
  }
}

const WATCH_INTERVAL_MS = 1000;
