/** How a backend is: a level (queue, utilisation) with target and spring, or the ratio itself. */
export interface ReportedHealth {
  /** Backends that fail together; default: the backend is a zone of its own. */
  readonly zone?: string;
  readonly level?: number;
  /** At this level it can bear just what it does now. */
  readonly target?: number;
  /** It is near saturation from target − spring on, and can bear half at target + spring. */
  readonly spring?: number;
  /** Part of its present work that it can bear, 0 to 2; null = not near saturation. */
  readonly throttlingRatio?: number | null;
}
