/** Acquires over HTTP since the start, by outcome; read by the metrics. */
export interface AcquireOutcomes {
  granted: number;
  refused: number;
  notReady: number;
  /** Wrong requests, 4xx other than 429. */
  rejected: number;
}

export function createAcquireOutcomes(): AcquireOutcomes {
  return { granted: 0, refused: 0, notReady: 0, rejected: 0 };
}
