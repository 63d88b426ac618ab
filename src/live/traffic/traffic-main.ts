import { playPlan } from './play-plan.js';
import type { TrafficOrder } from './protocol.js';

/** The traffic of a live run, in a process of its own, so that the nodes and their clients do not share an event loop. */
const frozen = new Set<number>();

process.on('message', (message) => {
  const order = message as TrafficOrder;
  if (order.kind === 'begin') void playPlan(order.plan).then((report) => process.send?.(report));
  else if (order.kind === 'frozen') frozen.add(order.pid);
  else frozen.delete(order.pid);
});

/** Our parent process is gone. The nodes that it froze cannot end by themselves: they are thawed. */
process.on('disconnect', () => {
  for (const pid of frozen) thaw(pid);
  process.exit(0);
});

function thaw(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // It has ended meanwhile.
  }
}
