import { epochNow } from '../../src/tools/load/epoch-now.js';
import type { Happening, Scenario } from '../scenario/scenario.js';
import type { Frozen } from './frozen.js';
import type { LiveCluster } from './live-cluster.js';
import type { LiveTopic } from './live-topic.js';

interface Stage {
  readonly scenario: Scenario;
  readonly cluster: LiveCluster;
  readonly topic: LiveTopic;
  readonly frozen: Frozen;
  readonly beganMs: number;
}

type Seen = { -readonly [Key in keyof Happening]: Happening[Key] };

/** Lists nodes that no `start` starts later. */
export function firstNodes({ nodes, happenings }: Scenario): readonly string[] {
  const late = new Set(happenings.filter(({ what }) => what === 'start').flatMap((happening) => happening.nodes));
  return nodes.filter((node) => !late.has(node));
}

/** Does a scenario's happenings to real processes, and dates them; a node is back when ready, after about a second. */
export class LiveStory {
  readonly #stage: Stage;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #seen: Seen[] = [];
  readonly #fail: (error: unknown) => void;

  constructor(stage: Stage, onFailure: (error: unknown) => void) {
    this.#stage = stage;
    this.#fail = onFailure;
  }

  begin(): void {
    for (const happening of this.#stage.scenario.happenings) {
      if (happening.what !== 'rate') this.#at(happening.atMs, () => this.#play(happening));
    }
  }

  /** Ends all that has not ended. */
  end(): readonly Happening[] {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#stage.frozen.thawAll();
    this.#stage.topic.endOutage();
    return this.#seen.toSorted((one, other) => one.atMs - other.atMs);
  }

  #play({ what, nodes, values }: Happening): void {
    const forMs = typeof values.forSeconds === 'number' ? values.forSeconds * 1000 : null;
    if (what === 'outage') this.#outage(forMs ?? 0);
    for (const node of nodes) {
      if (what === 'start') this.#start(node);
      else if (what === 'stall') this.#stall(node, forMs ?? 0);
      else if (what === 'crash' || what === 'leave') this.#end(node, what, forMs);
    }
  }

  /** Starts a node; nothing counts if it is ready after the end. */
  #start(node: string): void {
    const seen = this.#note('start', [node], {}, this.#stage.scenario.durationMs);
    this.#do(async () => {
      await this.#stage.cluster.start(node);
      seen.atMs = this.#nowMs;
    });
  }

  #end(node: string, how: 'crash' | 'leave', forMs: number | null): void {
    const { cluster, scenario } = this.#stage;
    const seen = this.#note(how, [node], { forSeconds: forMs === null ? null : scenario.durationMs / 1000 });
    const gone = cluster.end(node, how);
    this.#do(() => gone);
    if (forMs === null) return;
    this.#at(this.#nowMs + forMs, async () => {
      await gone;
      await cluster.start(node);
      seen.values = { forSeconds: (this.#nowMs - seen.atMs) / 1000 };
    });
  }

  #stall(node: string, forMs: number): void {
    const { cluster, frozen } = this.#stage;
    const pid = cluster.pidOf(node);
    if (pid === undefined) return;
    const seen = this.#note('stall', [node], { forSeconds: forMs / 1000 });
    frozen.freeze(pid);
    this.#at(this.#nowMs + forMs, () => {
      frozen.thaw(pid);
      seen.values = { forSeconds: (this.#nowMs - seen.atMs) / 1000 };
    });
  }

  #outage(forMs: number): void {
    const { topic } = this.#stage;
    const seen = this.#note('outage', [], { forSeconds: forMs / 1000 });
    this.#do(() => topic.beginOutage());
    this.#at(this.#nowMs + forMs, () => {
      topic.endOutage();
      seen.values = { forSeconds: (this.#nowMs - seen.atMs) / 1000 };
    });
  }

  #note(what: string, nodes: readonly string[], values: Happening['values'], atMs = this.#nowMs): Seen {
    const seen = { what, nodes, values, atMs };
    this.#seen.push(seen);
    return seen;
  }

  #at(atMs: number, action: () => void | Promise<void>): void {
    const due = () => {
      this.#timers.delete(timer);
      this.#do(action);
    };
    const timer = setTimeout(due, Math.max(0, atMs - this.#nowMs));
    this.#timers.add(timer);
  }

  #do(action: () => void | Promise<void>): void {
    void (async () => action())().catch((error: unknown) => this.#fail(error));
  }

  /** Whole milliseconds, as shown; the judge looks every 20. */
  get #nowMs(): number {
    return Math.round(epochNow() - this.#stage.beganMs);
  }
}
