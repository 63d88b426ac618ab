import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { AllowedLimits } from '../../../config/resolved/resolved-config.js';
import { withLimit } from './key-definition.js';
import type { KeyKinds } from './key-kinds.js';

interface RequestLimitsParts {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly kinds: KeyKinds;
  /** Most limits in use at once. */
  readonly max: number;
  readonly onRefused: (kind: number) => void;
}

/** Examines limits that came with requests; logs those that it refuses. */
export class RequestLimits {
  readonly #parts: RequestLimitsParts;
  /** Kind and text of a limit → why it was refused: a wrong gateway repeats it, and to examine it takes long. */
  readonly #refused = new Map<string, QuotameshError>();
  #untoldUntilMs = -Infinity;

  constructor(parts: RequestLimitsParts) {
    this.#parts = parts;
  }

  /** Returns the kind of a `now` key with this limit; null = no room for another. Throws LIMIT_INVALID. */
  kindOf(key: string, now: number, limit: unknown, highest: AllowedLimits['quota']): number | null {
    const { kinds, max } = this.#parts;
    try {
      const text = textOf(limit, key);
      const refusal = `${kinds.baseOf(now)} ${text}`;
      return kinds.limited(now, text, max, (settings) => {
        const known = this.#refused.get(refusal);
        if (known !== undefined) throw new QuotameshError(known.code, { ...known.facts, key });
        try {
          return withLimit(settings, limit, highest, key);
        } catch (error) {
          if (this.#refused.size >= REFUSED_MAX) this.#refused.clear();
          if (error instanceof QuotameshError) this.#refused.set(refusal, error);
          throw error;
        }
      });
    } catch (error) {
      if (error instanceof QuotameshError) this.#count(now, error);
      throw error;
    }
  }

  denied(kind: number, key: string, reason: string): QuotameshError {
    const error = new QuotameshError('LIMIT_DENIED', { key, reason });
    if (kind !== -1) this.#count(kind, error);
    return error;
  }

  /** Forgets refusals over templates that may have changed. */
  forgetRefused(): void {
    this.#refused.clear();
  }

  /** Logs at most one line a minute: no caller may fill the log. */
  #count(kind: number, { code, message }: QuotameshError): void {
    const { clock, telemetry, onRefused } = this.#parts;
    onRefused(kind);
    if (clock() < this.#untoldUntilMs) return;
    this.#untoldUntilMs = clock() + TOLD_EVERY_MS;
    telemetry.log('warn', 'a limit that came with a request is refused', { code, reason: message });
  }
}

/** Returns a limit's text; '' = not JSON, and so no limit. Throws LIMIT_INVALID. */
function textOf(limit: unknown, key: string): string {
  const text = jsonOf(limit);
  if (text.length <= TEXT_MAX) return text;
  const details = `must have at most ${TEXT_MAX} characters as JSON, has ${text.length}.`;
  throw new QuotameshError('LIMIT_INVALID', { key, details });
}

function jsonOf(limit: unknown): string {
  try {
    return JSON.stringify(limit) ?? '';
  } catch {
    return '';
  }
}

/** Most characters of a limit, which is kept; all rates in their longest words have 360. */
const TEXT_MAX = 500;
/** Refused limits kept; beyond that somebody makes them up. */
const REFUSED_MAX = 64;
const TOLD_EVERY_MS = 60_000;
