import { readdirSync, readFileSync } from 'node:fs';

/** More than this part in want of a core, and what was reached in a time tells of the machine. */
const TOO_BUSY = 1 / 3;

/** Watches how long this process and all that it has started wait for a core (Linux tells; elsewhere nobody waits). */
export class CoreWait {
  readonly #before = threadsBelow(process.pid);

  /**
   * Part of the time in which their threads wanted a core and had none, since this watch began. *Worked:* 2 s on a core
   * and 2 s in wait of one → 0.5.
   */
  ratio(): number {
    let [ran, waited] = [0, 0];
    for (const [thread, now] of threadsBelow(process.pid)) {
      const before = this.#before.get(thread) ?? { ran: 0, waited: 0 };
      ran += now.ran - before.ran;
      waited += now.waited - before.waited;
    }
    return waited === 0 ? 0 : waited / (ran + waited);
  }

  /** Says so, for a test that then judges no lower bound. */
  isTooBusy(what: string): boolean {
    const ratio = this.ratio();
    console.log(`${what}: ${(100 * ratio).toFixed(0)} % of the time that a core was wanted there was none`);
    return ratio > TOO_BUSY;
  }
}

interface Thread {
  readonly ran: number;
  readonly waited: number;
}

function threadsBelow(root: number): Map<string, Thread> {
  const parents = new Map(numbersIn('/proc').map((pid) => [pid, parentOf(pid)]));
  const isBelow = (pid: number | undefined): boolean => pid === root || (!!pid && isBelow(parents.get(pid)));
  const threads = new Map<string, Thread>();
  for (const pid of parents.keys()) {
    if (!isBelow(pid)) continue;
    for (const thread of numbersIn(`/proc/${pid}/task`)) {
      const [ran = 0, waited = 0] = read(`/proc/${pid}/task/${thread}/schedstat`).split(' ').map(Number);
      threads.set(`${pid}/${thread}`, { ran, waited });
    }
  }
  return threads;
}

/** Behind the name, which may hold anything: the state and the parent. */
function parentOf(pid: number): number {
  return Number(/\) \S (\d+)/.exec(read(`/proc/${pid}/stat`))?.[1] ?? 0);
}

/** Processes come and go. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
