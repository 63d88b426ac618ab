import type { LoadOrder } from './load-order.js';
import { OpenLoad } from './open-load.js';

/** Process of the load, apart from the nodes' event loops. */
const load = new OpenLoad();
const frozen = new Set<number>();

process.on('message', (message) => void obey(message as LoadOrder));

/** Thaws frozen nodes when the parent is gone: they cannot end themselves. */
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
