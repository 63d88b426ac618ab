import { type CanActivate, type ExecutionContext, HttpException } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { QuotaNode } from '../../node/api/quota-node.js';
import {
  type Admission,
  admissionOf,
  type QuotaOptions as OptionsOf,
  PROBLEM_TYPE,
  type Refusal,
  type WatchedResponse,
} from './admission.js';
import { rejectWrongQuota } from './check-quota-options.js';

/** Options whose functions get Nest's ExecutionContext: `(context) => context.switchToHttp().getRequest().ip`. */
export type QuotaOptions = OptionsOf<ExecutionContext>;

/** Decorates a controller or method, `@Quota({ messages: 5 })`; counts before the guard's options. */
export const Quota = Reflector.createDecorator<Partial<QuotaOptions>>();

/**
 * Guards by `app.useGlobalGuards(new QuotaGuard(node, { group: 'orders' }))`, or `{ provide: APP_GUARD, useValue: … }`.
 * Without a group it passes routes without a decorator.
 */
export class QuotaGuard implements CanActivate {
  readonly #node: QuotaNode;
  readonly #options: Partial<QuotaOptions>;
  readonly #reflector = new Reflector();
  readonly #routes = new Map<Partial<QuotaOptions> | undefined, Route | null>();

  constructor(node: QuotaNode, options: Partial<QuotaOptions> = {}) {
    rejectWrongQuota(node, options, { isPartial: true });
    this.#node = node;
    this.#options = options;
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const own = this.#reflector.getAllAndOverride(Quota, [context.getHandler(), context.getClass()]);
    const route = this.#routeOf(own);
    if (route === null) return true;
    const response = context.getType() === 'http' ? context.switchToHttp().getResponse<AnyResponse>() : null;
    const watched = response?.raw ?? response ?? undefined;
    const letPass = (made: Admission | null) => {
      // Never resolves: Nest would end a response that is somebody else's.
      if (made === null) return new Promise<never>(() => undefined);
      if (response !== null && watched?.headersSent !== true) tell(response, made, route);
      return made.refusal === null || refuse(made.refusal, context.getType(), route);
    };
    const admission = route.admit(context, watched);
    return admission instanceof Promise ? admission.then(letPass) : letPass(admission);
  }

  /** Returns a decorator's route, made at its first request. */
  #routeOf(own: Partial<QuotaOptions> | undefined): Route | null {
    const known = this.#routes.get(own);
    if (known !== undefined) return known;
    const { group, ...others } = { ...this.#options, ...own };
    const options = group === undefined ? null : { ...others, group };
    const made = options === null ? null : { admit: admissionOf(this.#node, options), refusal: options.refusal };
    this.#routes.set(own, made);
    return made;
  }
}

interface Route {
  readonly admit: ReturnType<typeof admissionOf<ExecutionContext>>;
  readonly refusal: QuotaOptions['refusal'];
}

interface AnyResponse extends WatchedResponse {
  readonly raw?: WatchedResponse;
  header(name: string, value: string): unknown;
}

function tell(response: AnyResponse, { headers, refusal }: Admission, route: Route): void {
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  if (refusal !== null && route.refusal !== 'framework') response.header('content-type', PROBLEM_TYPE);
}

/** Throws a refusal; callers other than HTTP are shown Nest's own exceptions only. */
function refuse({ status, problem }: Refusal, kind: string, route: Route): Promise<never> {
  const message = problem.detail ?? '';
  const told = { ...problem, message };
  if (kind === 'rpc') return thrown(import('@nestjs/microservices').then(({ RpcException }) => new RpcException(told)));
  if (kind === 'ws') return thrown(import('@nestjs/websockets').then(({ WsException }) => new WsException(told)));
  const isPlain = kind === 'http' && route.refusal !== 'framework';
  throw new HttpException(isPlain ? problem : kind === 'http' ? message : told, status);
}

async function thrown(error: Promise<Error>): Promise<never> {
  throw await error;
}
