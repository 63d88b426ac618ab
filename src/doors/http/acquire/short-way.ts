import { isAscii } from 'node:buffer';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import type { RouteGuard } from '../access/route-guard.js';
import type { RouteAccess } from '../route/route-access.js';
import { type AcquireAnswers, sendAnswer } from './acquire-answers.js';
import { ACQUIRE_PATH, type AcquireBody } from './acquire-body.js';
import { isPlainRequest } from './plain-request.js';
import { whereOf } from './scope-fields.js';

export interface ShortWayParts {
  readonly node: Pick<NodeParts, 'config' | 'gate'>;
  readonly guard: Pick<RouteGuard, 'letsIn'>;
  readonly access: RouteAccess;
  readonly answers: AcquireAnswers;
}

/**
 * Answers most acquires before fastify sees them. The caller is known, and the body came whole with the head and is
 * plain (plain-request.ts). All else, and every mistake, goes to fastify untouched; test/unit/http/short-way.test.ts
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
    if (request.url !== ACQUIRE_PATH || request.method !== 'POST' || this.#closed) return false;
    const { headers } = request;
    if (!MEDIA_TYPES.has(headers['content-type'] ?? '') || headers.expect !== undefined) return false;
    if (headers['content-encoding'] !== undefined) return false;
    return this.#parts.guard.letsIn(request, this.#parts.access);
  }

  /** Answers a request; false = fastify gets it, with its body. */
  #answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { complete, readableLength } = request;
    if (!complete || readableLength === 0 || readableLength > this.#parts.node.config.http.bodyLimitBytes) return false;
    const sent: Buffer | null = request.read();
    if (sent === null) return false;
    const body = plainBody(sent);
    const isAnswered = body !== null && this.#decide(request, response, body);
    if (!isAnswered) request.unshift(sent);
    return isAnswered;
  }

  #decide(request: IncomingMessage, response: ServerResponse, body: AcquireBody): boolean {
    try {
      const { node, answers } = this.#parts;
      sendAnswer(response, answers.answerTo(body, node.gate.tryAcquire(whereOf(body), body, body)));
      return true;
    } catch (error) {
      this.#thrown.set(request, error);
      return false;
    }
  }
}

/** Other spellings take fastify's way. */
const MEDIA_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/json; charset=utf-8']);

/** Parses a plain body; null = not plain, or no JSON. A `__proto__` is never plain. */
function plainBody(sent: Buffer): AcquireBody | null {
  if (!isAscii(sent)) return null;
  try {
    const body: unknown = JSON.parse(sent.toString('latin1'));
    return isPlainRequest(body) ? (body as AcquireBody) : null;
  } catch {
    return null;
  }
}
