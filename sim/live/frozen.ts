/** Holds stopped processes (SIGSTOP). `tell`: somebody who thaws them when we die. */
export class Frozen {
  readonly #pids = new Set<number>();
  readonly #tell: (kind: 'frozen' | 'thawed', pid: number) => void;

  constructor(tell: (kind: 'frozen' | 'thawed', pid: number) => void) {
    this.#tell = tell;
  }

  freeze(pid: number): void {
    this.#tell('frozen', pid);
    this.#pids.add(pid);
    process.kill(pid, 'SIGSTOP');
  }

  thaw(pid: number): void {
    if (!this.#pids.delete(pid)) return;
    this.#tell('thawed', pid);
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // It has ended meanwhile.
    }
  }

  thawAll(): void {
    for (const pid of [...this.#pids]) this.thaw(pid);
  }
}
