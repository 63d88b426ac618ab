import type { SwarmVerdict } from '../swarm/run-swarm.js';

/** Broken seeds named at the end. */
const SEEDS_NAMED = 50;

/** Adds up verdicts of many seeds. */
export class SwarmSummary {
  readonly broken: number[] = [];
  played = 0;
  readonly #first: number;
  readonly #count: number;
  readonly #worst = { faults: 0, after: 0 };
  #utilisation = 1;

  constructor(first: number, count: number) {
    this.#first = first;
    this.#count = count;
  }

  add({ seed, problems, worst, utilisation }: SwarmVerdict): void {
    this.played++;
    if (problems.length > 0) this.broken.push(seed);
    for (const phase of ['faults', 'after'] as const) {
      this.#worst[phase] = Math.max(this.#worst[phase], worst[phase]);
    }
    this.#utilisation = Math.min(this.#utilisation, utilisation);
  }

  progress(): string {
    return `${this.played} of ${this.#count} seeds, ${this.broken.length} broke a promise`;
  }

  lines(): readonly string[] {
    const { faults, after } = this.#worst;
    const kept = this.played - this.broken.length;
    const isAll = this.played === this.#count;
    return [
      `seeds ${this.#first} … ${this.#first + this.#count - 1}${isAll ? '' : `, interrupted after ${this.played}`}: ` +
        `${kept} of ${this.played} kept every promise`,
      `worst 5 s ÷ quota: ${faults.toFixed(3)} while faults happened, ${after.toFixed(3)} after them; ` +
        `least utilisation after them ${(100 * this.#utilisation).toFixed(1)} %`,
      ...this.#brokenLine(),
    ];
  }

  #brokenLine(): readonly string[] {
    const { broken } = this;
    if (broken.length === 0) return [];
    const named = broken.sort((left, right) => left - right).slice(0, SEEDS_NAMED);
    const others = broken.length > SEEDS_NAMED ? ` and ${broken.length - SEEDS_NAMED} more` : '';
    return [`broke a promise: ${named.join(' ')}${others}`];
  }
}
