import { readFile } from 'node:fs/promises';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { TopicLog } from '../remote/topic-log.js';
import { reasonOf } from '../remote/topic-unusable.js';
import { askForToken, type TokenEndpoint } from './token-endpoint.js';

/**
 * Gives tokens for SASL OAUTHBEARER. A connection asks whenever it authenticates: at its start, and before its session
 * ends.
 */
export interface TokenSource {
  /** Rejects with TOKEN_REFUSED, where trying again changes nothing, or with TOKEN_UNAVAILABLE. */
  token(): Promise<string>;
  close(): void;
}

export interface TokenSourceOptions {
  readonly topic: string;
  readonly sasl: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly log: TopicLog;
}

export function createTokenSource({ topic, sasl, timeoutMs, log }: TokenSourceOptions): TokenSource {
  const { tokenFile, tokenEndpoint: url = '', clientId = '', clientSecret = '', scope } = sasl;
  if (tokenFile !== undefined) return new TokenFile(topic, tokenFile);
  return new RefreshedToken({ topic, url, clientId, clientSecret, scope, timeoutMs }, log);
}

/**
 * The part of a token's life after which it is replaced, as in Kafka's own clients (sasl.login.refresh.window.factor).
 */
const REFRESH_RATIO = 0.8;
/**
 * A token is replaced when no more than this is left of its life, but not before half of it is over. A session ends
 * with its token, and kafkajs authenticates anew 10 s before that; with the same token it would have to do so again at
 * once, which Kafka refuses within a second. So tokens should live for half a minute at least.
 */
const LEFT_MS_MIN = 15_000;
const REFRESH_RATIO_MIN = 0.5;
const RETRY_MS = 5_000;
/** The longest delay that `setTimeout` takes. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Asks for a token when it is first needed, and for the next one before its life is over, so that the endpoint may be
 * away for a fifth of that life without a connection noticing. Callers at the same time share one request.
 */
class RefreshedToken implements TokenSource {
  readonly #endpoint: TokenEndpoint;
  readonly #log: TopicLog;
  #current: { readonly value: string; readonly freshUntilMs: number; readonly validUntilMs: number } | null = null;
  #asking: Promise<string> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(endpoint: TokenEndpoint, log: TopicLog) {
    this.#endpoint = endpoint;
    this.#log = log;
  }

  async token(): Promise<string> {
    const current = this.#current;
    if (current !== null && performance.now() < current.freshUntilMs) return current.value;
    try {
      return await this.#ask();
    } catch (error) {
      if (current !== null && performance.now() < current.validUntilMs) return current.value;
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #ask(): Promise<string> {
    this.#asking ??= this.#askNow().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askNow(): Promise<string> {
    const askedMs = performance.now();
    const { value, lifeMs } = await askForToken(this.#endpoint);
    const refreshMs = Math.max(REFRESH_RATIO_MIN * lifeMs, Math.min(REFRESH_RATIO * lifeMs, lifeMs - LEFT_MS_MIN));
    this.#current = { value, freshUntilMs: askedMs + refreshMs, validUntilMs: askedMs + lifeMs };
    this.#plan(refreshMs);
    return value;
  }

  #plan(inMs: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => this.#refresh(), Math.min(inMs, TIMER_MS_MAX));
    this.#timer.unref();
  }

  #refresh(): void {
    this.#ask().catch((error: unknown) => {
      const leftMs = Math.round((this.#current?.validUntilMs ?? 0) - performance.now());
      const facts = { topic: this.#endpoint.topic, reason: reasonOf(error), validForMs: Math.max(0, leftMs) };
      this.#log('warn', 'no new token for Kafka; trying again', facts);
      this.#plan(RETRY_MS);
    });
  }
}

const FILE_BYTES_MAX = 65_536;

/** Reads the file for every authentication, because only its writer knows when it changes. */
class TokenFile implements TokenSource {
  readonly #topic: string;
  readonly #path: string;

  constructor(topic: string, path: string) {
    this.#topic = topic;
    this.#path = path;
  }

  async token(): Promise<string> {
    const text = await readFile(this.#path, 'utf8').catch((error: unknown) => {
      throw this.#unavailable(reasonOf(error));
    });
    const token = text.trim();
    if (token === '') throw this.#unavailable('the file is empty');
    if (token.length > FILE_BYTES_MAX) throw this.#unavailable('the file is too large');
    return token;
  }

  close(): void {}

  #unavailable(reason: string): QuotameshError {
    return new QuotameshError('TOKEN_UNAVAILABLE', { topic: this.#topic, source: this.#path, reason });
  }
}
