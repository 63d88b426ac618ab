import type { Direction } from '../../core/base/vocabulary.js';

/** Span of a refused request, in the form of exemplars. */
export interface RefusalExemplar {
  readonly traceId: string;
  readonly spanId: string;
  /** Unix time of the refusal, ms. */
  readonly atMs: number;
}

/** Keeps the latest traced refusal per direction; filled by src/doors/opentelemetry, shown by /metrics. */
export class RefusalExemplars {
  /** True = an SDK records spans; else /metrics has one format only. */
  isFed = false;
  readonly #latest = new Map<Direction, RefusalExemplar>();

  note(direction: Direction, exemplar: RefusalExemplar): void {
    this.#latest.set(direction, exemplar);
  }

  of(direction: string): RefusalExemplar | undefined {
    return this.#latest.get(direction as Direction);
  }
}
