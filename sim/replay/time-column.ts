import { REPLAY_MS_MAX, type TraceFound, type TraceOptions, UNDATED_MS_MAX } from './trace.js';
import { quoted, type TraceLocation, traceMistake } from './trace-mistake.js';
import {
  elapsedMs,
  isPlausibleDate,
  isSpreadsheetDate,
  parseTime,
  stepMs,
  TIME_ALLOWED,
  type TraceTime,
  unitOf,
} from './trace-time.js';

/** Reads times in the first row's unit; ambiguous ones need --time-format. */
export class TimeColumn {
  readonly found: Omit<TraceFound, 'delimiter'>;
  readonly #options: Pick<TraceOptions, 'time' | 'timeFormat' | 'speed'>;
  readonly #begin: TraceTime;
  #roundedRows = 0;

  /** @param text of the first row */
  constructor(text: string, options: Pick<TraceOptions, 'time' | 'timeFormat' | 'speed'>, location: TraceLocation) {
    const { time, timeFormat } = options;
    const unit = timeFormat === 'auto' ? unitOf(text) : timeFormat;
    const begin = unit === null ? null : parseTime(text, unit);
    if (unit === null || begin === null)
      throw traceMistake(location, time, `is ${quoted(text)}`, TIME_ALLOWED[timeFormat]);
    const isDated = unit === 'iso' || isPlausibleDate(begin);
    if (timeFormat === 'auto' && !isDated && unit !== 's') {
      const problem = `is ${quoted(text)}, which is a date from 2000 to 2100 in no unit`;
      throw traceMistake(location, time, problem, 'such numbers with --time-format s, ms, us or ns');
    }
    this.#options = options;
    this.#begin = begin;
    this.found = { begunMs: begin.ms, unit, isDated };
  }

  /** Returns milliseconds since the first row. */
  read(text: string, location: TraceLocation): number {
    const { time, timeFormat, speed } = this.#options;
    const { unit, isDated } = this.found;
    const read = parseTime(text, unit);
    if (read === null) {
      const isOther = timeFormat === 'auto' && unitOf(text) !== null;
      throw traceMistake(location, time, `is ${quoted(text)}`, TIME_ALLOWED[isOther ? unit : timeFormat]);
    }
    const elapsed = elapsedMs(this.#begin, read);
    if (timeFormat !== 'auto') return elapsed;
    if (!isDated && isSpreadsheetDate(text)) {
      const problem = `is ${quoted(text)}, which may be days of a spreadsheet`;
      throw traceMistake(location, time, problem, 'times as 2023-11-16 18:17:03, or --time-format s');
    }
    if (!isDated && elapsed > UNDATED_MS_MAX && elapsed / speed <= REPLAY_MS_MAX) {
      const hours = Number((elapsed / 3_600_000).toPrecision(3));
      const problem = `is ${quoted(text)}, ${hours} h after the first if that is seconds`;
      throw traceMistake(location, time, problem, 'at most 1 h, or --time-format s, ms, us or ns');
    }
    this.#refuseRounded(text, location);
    return elapsed;
  }

  /** Refuses a spreadsheet's 1.7636E+12, which makes hours one moment. */
  #refuseRounded(text: string, location: TraceLocation): void {
    const step = stepMs(text, this.found.unit);
    this.#roundedRows = step > STEP_MS_MAX ? this.#roundedRows + 1 : 0;
    if (this.#roundedRows < ROUNDED_ROWS) return;
    const problem = `is ${quoted(text)}, rounded to ${step / 1000} s`;
    const allowed = `numbers with all their digits, or --time-format ${this.found.unit} to take them as they are`;
    throw traceMistake(location, this.#options.time, problem, allowed);
  }
}

/** Coarsest step of times, ms. */
const STEP_MS_MAX = 1000;
/** Rows; one may be round by itself. */
const ROUNDED_ROWS = 2;
