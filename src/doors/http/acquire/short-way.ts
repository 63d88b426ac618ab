import { isAscii } from 'node:buffer';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { RouteGuard } from '../access/route-guard.js';
import type { ConnectionBounds } from '../connections/connection-bounds.js';
import type { RouteAccess } from '../route/route-access.js';
import { type AcquireAnswer, sendAnswer } from './acquire-answers.js';

interface ShortWayParts {
  readonly guard: Pick<RouteGuard, 'letsIn'>;
  readonly access: RouteAccess;
  readonly bounds: Pick<ConnectionBounds, 'answered'>;
  /** By path. */
  readonly routes: Readonly<Record<string, ShortRoute>>;
}

/** A POST that may be answered before fastify sees it. */
export interface ShortRoute {
  readonly bodyLimit: number;
  /** Decides, and makes the answer; null = the body says something unusual, and nothing was decided. */
  answerTo(body: unknown): AcquireAnswer | null;
}

/**
 * Answers most acquires and bulks before fastify sees them. The caller is known, and the body came whole with the head
 * and is plain (plain-request.ts). All else, and every mistake, goes to fastify untouched; test/unit/http/short-way.test.ts
 * plays the same requests both ways. *Why:* docs/decisions/0052.
 */
export class ShortWay {
  readonly #parts: ShortWayParts;
  /** Errors of decisions; deciding again would count a mistake twice. */
  readonly #thrown = new WeakMap<IncomingMessage, unknown>();
  #closed = false;

  constructor(parts: ShortWayParts) {
    this.#parts = parts;
  }

  /** Leaves all requests to fastify while `app` closes, which ends their connections. */
  endWith(app: FastifyInstance): void {
    app.addHook('preClose', (done) => {
      this.#closed = true;
      done();
    });
  }

  /** Leaves to `handle` what this way does not take. */
  before(handle: RequestListener): RequestListener {
    const take = (request: IncomingMessage, response: ServerResponse) => {
      if (!this.#answer(request, response)) handle(request, response);
    };
    return (request, response) => {
      // Node calls with the head; the body that came with it is parsed by the next turn.
      if (this.#looksPlain(request)) setImmediate(take, request, response);
      else handle(request, response);
    };
  }

  /** Throws again what this request's decision threw. */
  rethrow(request: IncomingMessage): void {
    if (this.#thrown.has(request)) throw this.#thrown.get(request);
  }

  #looksPlain(request: IncomingMessage): boolean {
    if (request.method !== 'POST' || this.#closed || this.#routeOf(request) === undefined) return false;
    const { headers } = request;
    if (!MEDIA_TYPES.has(headers['content-type'] ?? '') || headers.expect !== undefined) return false;
    if (headers['content-encoding'] !== undefined) return false;
    return this.#parts.guard.letsIn(request, this.#parts.access);
  }

  /** Answers a request; false = fastify gets it, with its body. */
  #answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { complete, readableLength } = request;
    const route = this.#routeOf(request) as ShortRoute;
    if (!complete || readableLength === 0 || readableLength > route.bodyLimit) return false;
    const sent: Buffer | null = request.read();
    if (sent === null) return false;
    const answer = this.#decide(request, route, sent);
    if (answer === null) {
      request.unshift(sent);
      return false;
    }
    this.#parts.bounds.answered(response, answer.body.length);
    sendAnswer(response, answer);
    return true;
  }

  #decide(request: IncomingMessage, route: ShortRoute, sent: Buffer): AcquireAnswer | null {
    const body = parsed(sent);
    try {
      return body === undefined ? null : route.answerTo(body);
    } catch (error) {
      this.#thrown.set(request, error);
      return null;
    }
  }

  #routeOf({ url = '' }: IncomingMessage): ShortRoute | undefined {
    const { routes } = this.#parts;
    return Object.hasOwn(routes, url) ? routes[url] : undefined;
  }
}

/** Other spellings take fastify's way. */
const MEDIA_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/json; charset=utf-8']);

/** Parses JSON in ASCII; undefined = it is none. A `__proto__` is never plain. */
function parsed(sent: Buffer): unknown {
  if (!isAscii(sent)) return undefined;
  try {
    return JSON.parse(sent.toString('latin1'));
  } catch {
    return undefined;
  }
}
