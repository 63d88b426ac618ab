import type { Telemetry } from '../../base/ports/telemetry.js';
import type { StrictLaneState } from '../api/node-status.js';
import type { StrictBucket } from './strict-bucket.js';
import type { StrictLog } from './strict-log.js';

type Doubt = Exclude<StrictLaneState, 'kept'>;
/** Why the topic may lose what was granted, or is away; null = it does not, or works. */
type LogTroubles = Pick<StrictLog, 'unsafe' | 'lost'>;

/** Tells by log and bucket what this node knows of a lane. */
export function stateByLog({ unsafe, lost }: LogTroubles, { doubt }: Pick<StrictBucket, 'doubt'>): StrictLaneState {
  if (unsafe !== null) return 'topic-unsafe';
  return doubt !== null && lost !== null ? 'topic-lost' : (doubt ?? 'kept');
}

/** Says for people why a lane admits nothing; '' = it does. @param nodes names those that are relaxed */
export function becauseOf(state: StrictLaneState, { unsafe, lost }: LogTroubles, nodes = ''): string {
  if (state === 'kept') return '';
  const of: Partial<Record<Doubt, string | null>> = {
    'others-relaxed': nodes,
    'topic-unsafe': unsafe,
    'topic-lost': lost,
  };
  return DOUBT_TEXTS[state].replace('{}', () => of[state] ?? '');
}

/** Number of all keys together: a stranger chooses how many there are. */
export const ALL_KEYS = -1;

/** Logs when a lane admits nothing, and when it admits again. */
export class ToldStates {
  readonly #telemetry: Telemetry;
  readonly #texts: { readonly again: string; readonly stopped: string };
  readonly #told = new Map<number, StrictLaneState>();

  constructor(telemetry: Telemetry, texts: { readonly again: string; readonly stopped: string }) {
    this.#telemetry = telemetry;
    this.#texts = texts;
  }

  /** Logs a state, unless it is that of the last call. */
  tell(number: number, state: StrictLaneState, because: string, facts: Readonly<Record<string, unknown>>): void {
    if (state === (this.#told.get(number) ?? 'kept')) return;
    this.#told.set(number, state);
    if (state === 'kept') this.#telemetry.log('info', this.#texts.again, facts);
    else this.#telemetry.log('warn', `${this.#texts.stopped}: ${because}`, facts);
  }

  forget(number: number): void {
    this.#told.delete(number);
  }
}

/** Texts of the reasons; {} = nodes, or the reason of the topic. */
const DOUBT_TEXTS: Readonly<Record<Doubt, string>> = {
  'topic-lost': 'the log is away: {}',
  'topic-unsafe': 'the topic may lose what was granted: {}',
  learning: 'what nodes hold is being learnt; if none knows it, it begins anew after 5 s of silence',
  'others-relaxed': 'other nodes keep this group relaxed: {}',
  'echo-missing': 'the own record has not come back from the log for a second',
  'clock-unsure': 'the time of the log is not known until the next own record comes back',
  'between-periods': 'the period is over by the clock of the log, and the next has not begun',
};
