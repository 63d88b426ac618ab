/** Times of steps, after which shares must settle, and of lasting faults. */
export interface Unrest {
  readonly stepsMs: readonly number[];
  readonly faults: readonly Span[];
}

export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Returns the spans, in order, that are away from steps and faults. */
export function steadySpans({ stepsMs, faults }: Unrest, settleMs: number, durationMs: number): readonly Span[] {
  const unsteady = [
    ...stepsMs.map((at) => ({ fromMs: at, untilMs: at + settleMs })),
    ...faults.map(({ fromMs, untilMs }) => ({ fromMs, untilMs: untilMs + settleMs })),
  ].sort((one, other) => one.fromMs - other.fromMs);
  const steady: Span[] = [];
  let fromMs = 0;
  for (const span of unsteady) {
    if (span.fromMs > fromMs) steady.push({ fromMs, untilMs: Math.min(span.fromMs, durationMs) });
    fromMs = Math.max(fromMs, span.untilMs);
  }
  if (fromMs < durationMs) steady.push({ fromMs, untilMs: durationMs });
  return steady;
}

/**
 * Returns after how many milliseconds `errors` settle, by step; null = never. They stay within `bound` for `holdMs`, or
 * to the next step or fault. Later false alarms are no slow convergence.
 */
export function convergenceOf(
  errors: Float64Array,
  sampleMs: number,
  { stepsMs, faults }: Unrest,
  { bound, holdMs }: { readonly bound: number; readonly holdMs: number },
): readonly (number | null)[] {
  const ends = [...stepsMs, ...faults.map(({ fromMs }) => fromMs), errors.length * sampleMs];
  return stepsMs.map((stepMs) => {
    const untilMs = Math.min(...ends.filter((end) => end > stepMs));
    const end = Math.min(errors.length, Math.ceil(untilMs / sampleMs));
    let since = Math.ceil(stepMs / sampleMs);
    for (let at = since; at < end; at++) {
      if (errors[at] > bound) since = at + 1;
      else if ((at + 1 - since) * sampleMs >= holdMs) break;
    }
    return since === end ? null : Math.max(0, since * sampleMs - stepMs);
  });
}
