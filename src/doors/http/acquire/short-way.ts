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
 * Answers most acquires before fastify sees them: those whose caller is known already, whose body has come whole with
 * the head and says nothing unusual (plain-request.ts). fastify makes objects to follow a request
 * across callbacks, and reads its body by events
 * (docs/decisions/0052).
 *
 * Whatever is not so, and whatever is a mistake, goes to fastify as if nobody had looked at it, so that every error is
 * told in one place. test/unit/http/short-way.test.ts plays the same requests both ways.
 */
export class ShortWay {
  readonly #parts: ShortWayParts;
  /** What the decision on a request has thrown: a second one would count the mistake twice. */
  readonly #thrown = new WeakMap<IncomingMessage, unknown>();
  #closed = false;

  constructor(parts: ShortWayParts) {
    this.#parts = parts;
  }

  /** While `app` closes, all requests go to fastify, which ends their connections. */
  endWith(app: FastifyInstance): void {
    app.addHook('preClose', (done) => {
      this.#closed = true;
      done();
    });
  }

  /** `handle` gets what this way does not take. */
  before(handle: RequestListener): RequestListener {
    const take = (request: IncomingMessage, response: ServerResponse) => {
      if (!this.#answer(request, response)) handle(request, response);
    };
    return (request, response) => {
      // Node calls with the head. What came with it, the body and its end, is here when all that was read has been parsed.
      if (this.#looksPlain(request)) setImmediate(take, request, response);
      else handle(request, response);
    };
  }

  /** Throws what the decision on this request has thrown. */
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

  /** False = it goes to fastify, with its body. */
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

/** Others mean the same, and take fastify's way. */
const MEDIA_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/json; charset=utf-8']);

/** Null where a body is not plain, or no JSON. What `__proto__` would do is no matter: no plain body has that key. */
function plainBody(sent: Buffer): AcquireBody | null {
  if (!isAscii(sent)) return null;
  try {
    const body: unknown = JSON.parse(sent.toString('latin1'));
    return isPlainRequest(body) ? (body as AcquireBody) : null;
  } catch {
    return null;
  }
}
