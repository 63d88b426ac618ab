import type { LimitingSettings } from '../base/settings.js';
import type { BackendRecord } from '../protocol/record.js';
import { followedHealth } from '../target/followed-health.js';
import { HEALTHY, throttlingRatio } from '../target/throttling-ratio.js';

export type BackendWord = Pick<BackendRecord, 'backend' | 'zone' | 'health'>;

/** A change of the ratio by less than this part waits. */
const CHANGE_RATIO = 0.02;
/** What does not change is said again this many times while it is valid. */
const REPEATS = 3;

interface Told {
  /** The newest one; its level follows those that were told. */
  word: BackendWord;
  toldMs: number;
  /** The word has not been written yet. */
  isPending: boolean;
  sent: BackendWord | null;
  sentMs: number;
}

/**
 * When this node writes how a backend is: at once when its ratio or zone changes, else three times while its last word
 * is valid, never twice within `gapMs`: then the newest word waits. A poller may ask ten times a second; the topic sees
 * one small record per backend and change.
 */
export class BackendSender {
  readonly #validMs: number;
  readonly #smoothingMs: number;
  readonly #gapMs: number;
  readonly #told = new Map<string, Told>();

  constructor({ healthValidMs, levelSmoothingMs }: LimitingSettings, gapMs: number) {
    this.#validMs = healthValidMs;
    this.#smoothingMs = levelSmoothingMs;
    this.#gapMs = gapMs;
  }

  tell(word: BackendWord, nowMs: number): void {
    const known = this.#told.get(word.backend);
    if (known === undefined) {
      const sentMs = Number.NEGATIVE_INFINITY;
      this.#told.set(word.backend, { word, toldMs: nowMs, isPending: true, sent: null, sentMs });
      return;
    }
    const health = followedHealth(known.word.health, word.health, nowMs - known.toldMs, this.#smoothingMs);
    known.word = { ...word, health };
    known.toldMs = nowMs;
    known.isPending = true;
  }

  /** Called when another log begins: what is still valid is written again. */
  sayAgain(nowMs: number): void {
    for (const told of this.#told.values()) {
      if (nowMs - told.toldMs > this.#validMs) continue;
      told.isPending = true;
      told.sent = null;
      told.sentMs = Number.NEGATIVE_INFINITY;
    }
  }

  /** Calls `write` for every word that is due. */
  sendDue(nowMs: number, write: (word: BackendWord) => void): void {
    for (const [backend, told] of this.#told) {
      const silentMs = nowMs - told.sentMs;
      if (!told.isPending) {
        if (silentMs > this.#validMs) this.#told.delete(backend);
      } else if (silentMs >= (isNews(told) ? this.#gapMs : this.#validMs / REPEATS)) {
        told.isPending = false;
        told.sent = told.word;
        told.sentMs = nowMs;
        write(told.word);
      }
    }
  }
}

function isNews({ word, sent }: Told): boolean {
  if (sent === null || word.zone !== sent.zone) return true;
  const before = throttlingRatio(sent.health);
  const now = throttlingRatio(word.health);
  if (before === HEALTHY || now === HEALTHY) return before !== now;
  return Math.abs(now - before) > CHANGE_RATIO * Math.max(before, now);
}
