import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import { QuotameshError } from '../errors/quotamesh-error.js';
import type { Clock } from '../ports/clock.js';
import type { Telemetry } from '../ports/telemetry.js';
import type { AccessConfig } from './access-config.js';
import type { Caller } from './caller.js';
import { FailedAttempts, networkOf, SPAN_MS } from './failed-attempts.js';
import { hashOf } from './token.js';

/** Reasons for refused logins; label of a metric. */
export type FailureReason = 'missing' | 'unknown' | 'untrusted' | 'limited' | 'denied';
export type Listener = 'http' | 'mqtt' | 'envoy';

/** Remembered pairs of address and accepted token; beyond it the oldest is forgotten. */
const SEEN_MAX = 10_000;
const LOGGED_EVERY_MS = 10_000;

/**
 * Decides who may call this node, by the newest configuration; knows tokens by hash alone. Listeners keep a
 * connection's caller until `version` changes, so no request runs through here.
 */
export class Access {
  /** Rises with every new configuration: earlier findings do not hold any more. */
  version = 0;
  /** Count by listener and reason, such as `http unknown`. */
  readonly failures = new Map<string, number>();
  readonly attempts: FailedAttempts;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  #config: AccessConfig | null;
  #tokens: ReadonlyMap<string, KnownToken>;
  readonly #seen = new Set<string>();
  /** Last line of each message. */
  readonly #loggedMs = new Map<string, number>();

  constructor(config: AccessConfig | null, clock: Clock, telemetry: Telemetry) {
    this.#clock = clock;
    this.#telemetry = telemetry;
    this.attempts = new FailedAttempts(clock);
    this.#config = config;
    this.#tokens = knownTokens(config);
  }

  /** True without `auth:`: everybody who reaches a listener has every role. */
  get isOpen(): boolean {
    return this.#config === null;
  }

  get status() {
    const { tokens = [], certificates = [] } = this.#config ?? {};
    const failures = Object.fromEntries(this.failures);
    return { auth: !this.isOpen, tokens: tokens.length, certificates: certificates.length, failures };
  }

  take(config: AccessConfig | null): void {
    if (config === null && !this.isOpen) {
      this.#telemetry.log('warn', 'auth was removed from the configuration: it stays in force until a restart');
      return;
    }
    if (JSON.stringify(config) === JSON.stringify(this.#config)) return;
    this.#config = config;
    this.#tokens = knownTokens(config);
    this.#seen.clear();
    this.version++;
    const { tokens, certificates } = this.status;
    this.#telemetry.log('info', 'access changed', { auth: config !== null, tokens, certificates });
  }

  /** Finds a token's caller. Throws AUTH_FAILED, AUTH_LIMITED. */
  byToken(token: string, address: string, listener: Listener): Caller {
    const hash = hashOf(token);
    const found = this.#known(hash);
    const isLimited = this.#isLimited(address);
    if (found !== null && (!isLimited || this.#seen.has(pairOf(address, found.caller)))) {
      this.#see(address, found.caller);
      return found.caller;
    }
    if (isLimited) this.#refuseLimited(address, listener);
    throw this.#failed('unknown', 'the token is not known', address, listener);
  }

  /** Finds an accepted token's caller again by its hash; null = refused now. */
  byHash(hash: Buffer): Caller | null {
    return this.#known(hash)?.caller ?? null;
  }

  /** Finds the caller of a verified client certificate. Throws AUTH_FAILED, AUTH_LIMITED. */
  byCertificate(certificate: PeerCertificate, address: string, listener: Listener): Caller {
    const caller = this.certified(certificate);
    if (caller !== null) return caller;
    if (this.#isLimited(address)) this.#refuseLimited(address, listener);
    const shown = namesIn(certificate).slice(0, 3).join(', ').slice(0, 200) || 'without a name';
    throw this.#failed('unknown', `no rule of auth.certificates matches the certificate ${shown}`, address, listener);
  }

  /** Finds the caller of a verified certificate by the first matching rule; null = none. */
  certified(certificate: PeerCertificate): Caller | null {
    const names = namesIn(certificate);
    for (const { match, name, roles, tenants } of this.#config?.certificates ?? []) {
      const matched = names.find((one) => matchesName(match, one));
      if (matched !== undefined) return { name: name ?? matched, roles, tenants, how: 'certificate' };
    }
    return null;
  }

  /** Returns the client's certificate; null = none, or no TLS. Throws AUTH_FAILED, AUTH_LIMITED. */
  shownCertificate(socket: Socket, address: string, listener: Listener): PeerCertificate | null {
    if (!(socket instanceof TLSSocket)) return null;
    const certificate = socket.getPeerCertificate();
    if (certificate === null || Object.keys(certificate).length === 0) return null;
    if (socket.authorized) return certificate;
    if (this.#isLimited(address)) this.#refuseLimited(address, listener);
    const reason = `the client certificate is not trusted (${socket.authorizationError})`;
    throw this.#failed('untrusted', reason, address, listener);
  }

  /** Counts a caller without any proof; it is no attempt, so it is not limited. */
  missing(reason: string, listener: Listener): never {
    this.count('missing', listener);
    throw new QuotameshError('AUTH_FAILED', { reason });
  }

  count(reason: FailureReason, listener: Listener): void {
    const key = `${listener} ${reason}`;
    this.failures.set(key, (this.failures.get(key) ?? 0) + 1);
  }

  /** Finds a token by its hash; compares in constant time, with any other's where there is none. */
  #known(hash: Buffer): KnownToken | null {
    const known = this.#tokens.get(hash.toString('hex'));
    return timingSafeEqual(known?.hash ?? NOBODY, hash) ? (known ?? null) : null;
  }

  #isLimited(address: string): boolean {
    return this.attempts.count(address) >= (this.#config?.failuresPerMinute ?? Infinity);
  }

  #refuseLimited(address: string, listener: Listener): never {
    this.count('limited', listener);
    const retryAfterS = Math.max(1, Math.ceil(this.attempts.remainingMs(address) / 1000));
    throw new QuotameshError('AUTH_LIMITED', { address: networkOf(address), retryAfterS });
  }

  #failed(reason: FailureReason, text: string, address: string, listener: Listener): QuotameshError {
    this.count(reason, listener);
    const count = this.attempts.add(address);
    const isLast = count === this.#config?.failuresPerMinute;
    const message = isLast ? 'failed attempts are limited' : 'a caller was not let in';
    const nowMs = this.#clock();
    // A caller with thousands of addresses must not fill the log.
    if (nowMs - (this.#loggedMs.get(message) ?? -Infinity) >= LOGGED_EVERY_MS) {
      this.#loggedMs.set(message, nowMs);
      const facts = { address: networkOf(address), listener, reason: text, failures: count, withinMs: SPAN_MS };
      this.#telemetry.log('warn', message, facts);
    }
    return new QuotameshError('AUTH_FAILED', { reason: text });
  }

  #see(address: string, caller: Caller): void {
    const pair = pairOf(address, caller);
    this.#seen.delete(pair);
    const oldest = this.#seen.values().next();
    if (this.#seen.size >= SEEN_MAX && oldest.done !== true) this.#seen.delete(oldest.value);
    this.#seen.add(pair);
  }
}

interface KnownToken {
  readonly hash: Buffer;
  readonly caller: Caller;
}

function knownTokens(config: AccessConfig | null): ReadonlyMap<string, KnownToken> {
  const entries = (config?.tokens ?? []).map(({ hash, name, roles, tenants }) => {
    const caller: Caller = { name, roles, tenants, how: 'token' };
    return [hash, { hash: Buffer.from(hash, 'hex'), caller }] as const;
  });
  return new Map(entries);
}

const NOBODY = Buffer.alloc(32);

function pairOf(address: string, { name }: Caller): string {
  return `${address} ${name}`;
}

/**
 * Names a client certificate as rules write it: `CN=broker-1`, `DNS:broker-1.example`, `URI:spiffe://example/broker`,
 * `email:ops@example.org`. Leaves out quoted alternative names, which could pass for another entry, and a subject with
 * several common names, of which nobody knows the verified one.
 */
export function namesIn({ subject, subjectaltname }: Pick<PeerCertificate, 'subject' | 'subjectaltname'>): string[] {
  const commonName: unknown = subject?.CN;
  const alternative = (subjectaltname ?? '').split(', ').filter((entry) => /^(DNS|URI|email):[^"]+$/.test(entry));
  return [...alternative, ...(typeof commonName === 'string' ? [`CN=${commonName}`] : [])];
}

/** Matches a name; `*` stands for anything but `.`, `/` and `:`, as a label in TLS. */
export function matchesName(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^./:]*')}$`).test(name);
}
