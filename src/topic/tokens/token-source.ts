import { readFile } from 'node:fs/promises';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { TopicLog } from '../remote/topic-log.js';
import { reasonOf } from '../remote/topic-unusable.js';
import { askForToken, type TokenEndpoint } from './token-endpoint.js';

/** Gives tokens for SASL OAUTHBEARER: at a connection's start, and before its session ends. */
export interface TokenSource {
  /** Returns a token. Rejects with TOKEN_REFUSED for good, or TOKEN_UNAVAILABLE. */
  token(): Promise<string>;
  close(): void;
}

interface TokenSourceOptions {
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

/** Part of a token's life after which it is replaced. Kafka's clients do so, too (sasl.login.refresh.window.factor). */
const REFRESH_RATIO = 0.8;
/**
 * Milliseconds left when a token is replaced; not before half its life. kafkajs authenticates anew 10 s before the end;
 * the same token again would be refused. So tokens should live half a minute.
 */
const LEFT_MS_MIN = 15_000;
const REFRESH_RATIO_MIN = 0.5;
/** Milliseconds; more leaves no token of a second in time, less floods an endpoint that says milliseconds. */
const REFRESH_MS_MIN = 500;
const RETRY_MS = 5_000;
/** Longest delay of `setTimeout`. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Fetches a token at first need, and the next early: the endpoint may be away for a fifth of its life. Concurrent
 * callers share a request.
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
    this.#plan(Math.max(REFRESH_MS_MIN, refreshMs));
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

/** Reads the file at every authentication: only its writer knows when it changes. */
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
