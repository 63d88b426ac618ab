import { backendIdOf } from '../base/ids.js';
import {
  type Author,
  type BackendHealth,
  type BackendRecord,
  isOlder,
  newestLifeAmong,
} from '../base/protocol/record.js';
import type { LimitingSettings } from '../base/settings.js';
import type { BackendId, Incarnation, NodeKey } from '../base/vocabulary.js';
import { HEALTHY, throttlingRatio } from './throttling-ratio.js';

/** State of a backend by the log. */
export interface Backend {
  readonly id: BackendId;
  readonly name: string;
  zone: string;
  health: BackendHealth;
  /** HEALTHY while the backend is silent: a broken sensor throttles nothing. */
  ratio: number;
  isSilent: boolean;
  /** Log time of the membership partition at the backend's newest record. */
  heardLogMs: number;
  author: Author;
}

export type BackendVerdict = 'applied' | 'repeated' | 'too-many-backends';

/**
 * Keeps the health of all backends by the membership partition's log. The newest record of a name counts for
 * `healthValidMs` of log time, by any author. There are at most `maxBackends`. A further one is refused and counted,
 * unless the backend that was silent for longest has expired and makes room. So all nodes that have read equally far
 * keep the same backends.
 */
export class BackendBook {
  /** Called when a backend's ratio or zone has changed. */
  onChanged: (backend: BackendId) => void = () => undefined;
  readonly #cluster: string;
  readonly #settings: LimitingSettings;
  /** In the order of their newest records in the log. */
  readonly #backends = new Map<BackendId, Backend>();

  constructor(cluster: string, settings: LimitingSettings) {
    this.#cluster = cluster;
    this.#settings = settings;
  }

  all(): Iterable<Backend> {
    return this.#backends.values();
  }

  get(id: BackendId): Backend | undefined {
    return this.#backends.get(id);
  }

  newestLifeOf(nodeKey: NodeKey): Incarnation {
    return newestLifeAmong(this.#backends.values(), nodeKey);
  }

  hasRoomFor(name: string): boolean {
    const { maxBackends } = this.#settings;
    return this.#backends.size < maxBackends || this.#backends.has(this.#idOf(name)) || this.#oldestSilent() !== null;
  }

  apply({ backend: name, zone, health, author }: BackendRecord, logMs: number): BackendVerdict {
    const id = this.#idOf(name);
    const known = this.#backends.get(id);
    if (known !== undefined && isOlder(author, known.author)) return 'repeated';
    if (known === undefined && !this.#makeRoom()) return 'too-many-backends';
    const ratio = throttlingRatio(health);
    this.#backends.delete(id);
    this.#backends.set(id, { id, name, zone, health, ratio, isSilent: false, heardLogMs: logMs, author });
    if (known === undefined || known.ratio !== ratio || known.zone !== zone) this.onChanged(id);
    return 'applied';
  }

  /** Counts backends without a record for `healthValidMs` as healthy. */
  expire(logMs: number): void {
    for (const backend of this.#backends.values()) {
      if (backend.isSilent || logMs - backend.heardLogMs <= this.#settings.healthValidMs) continue;
      backend.isSilent = true;
      if (backend.ratio === HEALTHY) continue;
      backend.ratio = HEALTHY;
      this.onChanged(backend.id);
    }
  }

  forgetAll(): void {
    this.#backends.clear();
  }

  /** Applies a tombstone: it frees space and changes no share. */
  bury(name: string): void {
    const id = this.#idOf(name);
    if (this.#backends.get(id)?.isSilent) this.#backends.delete(id);
  }

  #idOf(name: string): BackendId {
    return backendIdOf(this.#cluster, name);
  }

  #makeRoom(): boolean {
    if (this.#backends.size < this.#settings.maxBackends) return true;
    const oldest = this.#oldestSilent();
    return oldest !== null && this.#backends.delete(oldest.id);
  }

  /** Finds the backend that was silent for longest, if expired. Log time does not go back, so it stands first. */
  #oldestSilent(): Backend | null {
    const [oldest] = this.#backends.values();
    return oldest?.isSilent ? oldest : null;
  }
}
