import type { TraceFound, TraceOptions } from '../replay/trace.js';
import type { TimeUnit } from '../replay/trace-time.js';

/** Reports guesses on a file: times and delimiter. */
export function foundText(
  { begunMs, unit, isDated, delimiter }: TraceFound,
  options: Pick<TraceOptions, 'timeFormat' | 'delimiter'>,
): readonly string[] {
  const began = new Date(begunMs).toISOString().slice(0, 19).replace('T', ' ');
  const since = isDated ? `, the first ${began} UTC` : ', which are no dates';
  const times = `Times are taken for ${UNITS[unit]}${since}.`;
  return [
    ...(options.timeFormat === 'auto' ? [times] : []),
    ...(options.delimiter === undefined && delimiter !== ','
      ? [`Fields are divided by ${JSON.stringify(delimiter)}.`]
      : []),
  ];
}

const UNITS: Readonly<Record<TimeUnit, string>> = {
  iso: 'dates, UTC where no zone is told',
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
};
