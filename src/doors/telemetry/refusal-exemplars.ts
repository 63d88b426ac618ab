import type { Direction } from '../../core/base/vocabulary.js';

/** Where a refused request can be looked up: its span, in the form that exemplars have. */
export interface RefusalExemplar {
  readonly traceId: string;
  readonly spanId: string;
  /** Unix time of the refusal. */
  readonly atMs: number;
}

/**
 * The latest refusal of each direction that happened within a recorded trace: one place per direction, however many are
 * refused. Filled by who knows the spans (src/doors/opentelemetry), told by /metrics.
 */
export class RefusalExemplars {
  /** There is an SDK that records spans. Without one, /metrics has one format only. */
  isFed = false;
  readonly #latest = new Map<Direction, RefusalExemplar>();

  note(direction: Direction, exemplar: RefusalExemplar): void {
    this.#latest.set(direction, exemplar);
  }

  of(direction: string): RefusalExemplar | undefined {
    return this.#latest.get(direction as Direction);
  }
}
