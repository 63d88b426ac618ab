/** Health of a backend: a level (queue, utilisation) with target and spring, or the ratio itself. */
export interface ReportedHealth {
  /** Zone of backends that fail together; default: a zone of its own. */
  readonly zone?: string;
  readonly level?: number;
  /** Level at which it bears just its present work. */
  readonly target?: number;
  /** Width: near saturation from target − spring on, half bearable at target + spring. */
  readonly spring?: number;
  /** Part of its present work that it can bear, 0 to 2; null = not near saturation. */
  readonly throttlingRatio?: number | null;
}
