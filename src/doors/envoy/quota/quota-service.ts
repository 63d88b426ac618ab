import type { Clock } from '../../../base/ports/clock.js';
import type { Enforcers } from '../../../node/enforcers/enforcers.js';
import type { GrpcMethod } from '../grpc/grpc-method.js';
import type { Target } from './bucket.js';
import type { BucketId } from './bucket-id.js';
import { QuotaStream } from './quota-stream.js';

export const QUOTA_SERVICE = 'envoy.service.rate_limit_quota.v3.RateLimitQuotaService';

export interface QuotaServiceParts {
  readonly enforcers: Enforcers;
  readonly clock: Clock;
  /** Finds what limits a bucket (bucket-targets.ts). */
  readonly targetOf: (domain: string, id: BucketId) => Target;
}

/** Allocates quotas to Envoys by demand: one stream each, one enforcer each. */
export class QuotaService {
  readonly methods: readonly GrpcMethod[];
  readonly #streams = new Set<QuotaStream>();
  #opened = 0;
  #reports = 0;
  #told = 0;
  #look: NodeJS.Timeout | null = null;

  constructor(parts: QuotaServiceParts) {
    this.methods = [
      {
        kind: 'stream',
        path: `/${QUOTA_SERVICE}/StreamRateLimitQuotas`,
        needs: 'traffic',
        maxRequestBytes: REPORT_BYTES_MAX,
        open: (open) => {
          const stream = new QuotaStream(parts, open, ++this.#opened, (gone) => this.#forget(gone));
          this.#streams.add(stream);
          this.#look ??= setInterval(() => this.#tellAll(), LOOK_EVERY_MS).unref();
          return stream;
        },
      },
    ];
  }

  /** Counts for status and metrics. */
  get status() {
    const streams = [...this.#streams];
    const refused: Record<string, number> = {};
    for (const { book } of streams) {
      for (const [reason, count] of book.refused) refused[reason] = (refused[reason] ?? 0) + count;
    }
    return {
      streams: streams.length,
      buckets: streams.reduce((sum, { book }) => sum + book.size, 0),
      reports: streams.reduce((sum, { reports }) => sum + reports, this.#reports),
      assignments: streams.reduce((sum, { told }) => sum + told, this.#told),
      refused,
    };
  }

  #tellAll(): void {
    for (const stream of this.#streams) stream.tell();
  }

  #forget(gone: QuotaStream): void {
    if (!this.#streams.delete(gone)) return;
    this.#reports += gone.reports;
    this.#told += gone.told;
    if (this.#streams.size > 0 || this.#look === null) return;
    clearInterval(this.#look);
    this.#look = null;
  }
}

/** 20,000 buckets of 800 bytes. */
const REPORT_BYTES_MAX = 16 * 1024 * 1024;
/** Milliseconds until a share that has moved is told. */
const LOOK_EVERY_MS = 100;
