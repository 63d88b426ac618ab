import type { Measurement } from './meter.js';

/** Promise of the demonstration, and whether it was kept. */
export interface Criterion {
  readonly name: string;
  readonly measured: number;
  readonly bound: number;
  readonly sense: 'at least' | 'at most';
  readonly kept: boolean;
}

const UTILISATION_MIN = 0.97;
const OVER_ADMISSION_MAX = 0.02;
const WORST_SECOND_MAX = 1.1;

/** Judges the three promises of the exit code; the first second counts. */
export function judge(measurement: Measurement): Criterion[] {
  return [
    atLeast('utilisation of min(quota, demand)', measurement.utilisation, UTILISATION_MIN),
    atMost('over-admission over any 5 s', measurement.overAdmission, OVER_ADMISSION_MAX),
    atMost('worst sliding second ÷ quota', measurement.worstSecond, WORST_SECOND_MAX),
  ];
}

function atLeast(name: string, measured: number, bound: number): Criterion {
  return { name, measured, bound, sense: 'at least', kept: measured >= bound };
}

function atMost(name: string, measured: number, bound: number): Criterion {
  return { name, measured, bound, sense: 'at most', kept: measured <= bound };
}
