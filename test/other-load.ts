import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Bounds the part of all cores that others may take. Above it, a rate reached tells of them. */
const TOO_MUCH = 1 / 4;
/** /proc/stat counts in hundredths of a second. */
const TICK_MS = 10;

/** Watches what processes that are not of this run of tests take of the cores (Linux tells; elsewhere it is nothing). */
export class OtherLoad {
  readonly #beganMs = performance.now();
  readonly #busyMs = busyMs();
  readonly #own = ownThreads();

  /** Part of all cores, since this watch began. *Worked:* 2 cores for 10 s, 15 s of work, 10 s of it ours → 0.25. */
  ratio(): number {
    let ownMs = 0;
    for (const [thread, ms] of ownThreads()) ownMs += ms - (this.#own.get(thread) ?? 0);
    const allMs = availableParallelism() * (performance.now() - this.#beganMs);
    return Math.max(0, busyMs() - this.#busyMs - ownMs) / allMs;
  }

  /** Says so; a test then judges what holds on any machine. */
  isTooMuch(what: string): boolean {
    const ratio = this.ratio();
    console.log(`${what}: others took ${(100 * ratio).toFixed(0)} % of the cores`);
    return ratio > TOO_MUCH;
  }
}

function busyMs(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (
    /^cpu +(.*)$/m.exec(read('/proc/stat'))?.[1] ?? ''
  )
    .split(' ')
    .map(Number);
  return TICK_MS * (user + nice + system + irq + softirq + steal);
}

/** Milliseconds that each thread of vitest, of its workers and of what they have started was on a core. */
function ownThreads(): Map<string, number> {
  const parents = new Map(numbersIn('/proc').map((pid) => [pid, parentOf(pid)]));
  const isOwn = (pid: number | undefined): boolean => pid === process.ppid || (!!pid && isOwn(parents.get(pid)));
  const threads = new Map<string, number>();
  for (const pid of parents.keys()) {
    if (!isOwn(pid)) continue;
    for (const thread of numbersIn(`/proc/${pid}/task`)) {
      const [ranNs] = read(`/proc/${pid}/task/${thread}/schedstat`).split(' ');
      threads.set(`${pid}/${thread}`, Number(ranNs) / 1e6);
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
