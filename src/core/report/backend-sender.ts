import type { BackendRecord } from '../base/protocol/record.js';
import type { LimitingSettings } from '../base/settings.js';
import { RENEWALS } from '../target/constants/constants.js';
import { followedHealth } from '../target/followed-health.js';
import { HEALTHY, throttlingRatio } from '../target/throttling-ratio.js';
import { SMALL_CHANGE_RATIO } from './constants/constants.js';

export type BackendWord = Pick<BackendRecord, 'backend' | 'zone' | 'health'>;

interface Known {
  /** The newest health; its level is smoothed over the earlier ones. */
  word: BackendWord;
  reportedMs: number;
  /** True while the newest health has not been written yet. */
  isPending: boolean;
  sent: BackendWord | null;
  sentMs: number;
}

/**
 * Decides when this node writes the health of a backend: at once when its ratio or zone changes, else four times while
 * its last record is valid. It never writes twice within `gapMs`; then the newest health waits. A poller may ask ten
 * times a second; the topic gets one small record per backend and change.
 */
export class BackendSender {
  readonly #validMs: number;
  readonly #smoothingMs: number;
  readonly #gapMs: number;
  readonly #known = new Map<string, Known>();

  constructor({ healthValidMs, levelSmoothingMs }: LimitingSettings, gapMs: number) {
    this.#validMs = healthValidMs;
    this.#smoothingMs = levelSmoothingMs;
    this.#gapMs = gapMs;
  }

  report(word: BackendWord, nowMs: number): void {
    const known = this.#known.get(word.backend);
    if (known === undefined) {
      const sentMs = -Infinity;
      this.#known.set(word.backend, { word, reportedMs: nowMs, isPending: true, sent: null, sentMs });
      return;
    }
    const health = followedHealth(known.word.health, word.health, nowMs - known.reportedMs, this.#smoothingMs);
    known.word = { ...word, health };
    known.reportedMs = nowMs;
    known.isPending = true;
  }

  /** Writes valid healths again, when another log begins. */
  sayAgain(nowMs: number): void {
    for (const known of this.#known.values()) {
      if (nowMs - known.reportedMs > this.#validMs) continue;
      known.isPending = true;
      known.sent = null;
      known.sentMs = -Infinity;
    }
  }

  /** Calls `write` for every health that is due. */
  sendDue(nowMs: number, write: (word: BackendWord) => void): void {
    for (const [backend, known] of this.#known) {
      const silentMs = nowMs - known.sentMs;
      if (!known.isPending) {
        if (silentMs > this.#validMs) this.#known.delete(backend);
      } else if (silentMs >= (isNews(known) ? this.#gapMs : this.#validMs / RENEWALS)) {
        known.isPending = false;
        known.sent = known.word;
        known.sentMs = nowMs;
        write(known.word);
      }
    }
  }
}

function isNews({ word, sent }: Known): boolean {
  if (sent === null || word.zone !== sent.zone) return true;
  const before = throttlingRatio(sent.health);
  const now = throttlingRatio(word.health);
  if (before === HEALTHY || now === HEALTHY) return before !== now;
  return Math.abs(now - before) > SMALL_CHANGE_RATIO * Math.max(before, now);
}
