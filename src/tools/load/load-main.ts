import type { LoadOrder } from './load-order.js';
import { OpenLoad } from './open-load.js';

/** The process of the load: nodes and their clients should not share an event loop. */
const load = new OpenLoad();
const frozen = new Set<number>();

process.on('message', (message) => void obey(message as LoadOrder));

/** Our parent process is gone. The nodes that it froze cannot end by themselves: they are thawed. */
process.on('disconnect', () => {
  for (const pid of frozen) thaw(pid);
  process.exit(0);
});

async function obey(order: LoadOrder): Promise<void> {
  if (order.kind === 'play') load.play(order.name, order.plan);
  else if (order.kind === 'frozen') frozen.add(order.pid);
  else if (order.kind === 'thawed') frozen.delete(order.pid);
  else {
    if (order.kind === 'finish') await load.finish();
    process.send?.(load.collect());
  }
}

function thaw(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // It has ended meanwhile.
  }
}
