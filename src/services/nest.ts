import { type CanActivate, type ExecutionContext, HttpException } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { QuotaNode } from '../api/quota-node.js';
import {
  admissionOf,
  type ClosingResponse,
  type QuotaOptions as OptionsOf,
  PROBLEM_TYPE,
  type Refusal,
} from './admission.js';

/** Functions in it get Nest's ExecutionContext: `(context) => context.switchToHttp().getRequest().ip`. */
export type QuotaOptions = OptionsOf<ExecutionContext>;

/** `@Quota({ messages: 5 })` on a controller or a method: what it names counts before what the guard was given. */
export const Quota = Reflector.createDecorator<Partial<QuotaOptions>>();

/**
 * `app.useGlobalGuards(new QuotaGuard(node, { group: 'orders' }))`, or `{ provide: APP_GUARD, useValue: … }`. Without a
 * group of its own it lets pass what no decorator gives one.
 */
export class QuotaGuard implements CanActivate {
  readonly #node: QuotaNode;
  readonly #options: Partial<QuotaOptions>;
  readonly #reflector = new Reflector();
  readonly #routes = new Map<Partial<QuotaOptions> | undefined, Route | null>();

  constructor(node: QuotaNode, options: Partial<QuotaOptions> = {}) {
    this.#node = node;
    this.#options = options;
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const own = this.#reflector.getAllAndOverride(Quota, [context.getHandler(), context.getClass()]);
    const route = this.#routeOf(own);
    if (route === null) return true;
    const response = context.getType() === 'http' ? context.switchToHttp().getResponse<AnyResponse>() : null;
    const admission = route.admit(context, response?.raw ?? response ?? undefined);
    return admission instanceof Promise
      ? admission.then((made) => letPass(made, route, response))
      : letPass(admission, route, response);
  }

  /** One per decorator, made at its first request. */
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

/** Express's response and Fastify's reply, as far as both have it. */
interface AnyResponse extends ClosingResponse {
  readonly raw?: ClosingResponse;
  header(name: string, value: string): unknown;
}

function letPass(
  { headers, refusal }: Awaited<ReturnType<Route['admit']>>,
  route: Route,
  to: AnyResponse | null,
): true {
  for (const [name, value] of Object.entries(headers)) to?.header(name, value);
  if (refusal === null) return true;
  if (route.refusal !== 'framework') to?.header('content-type', PROBLEM_TYPE);
  throw exceptionOf(refusal, route);
}

function exceptionOf({ status, problem }: Refusal, route: Route): HttpException {
  return new HttpException(route.refusal === 'framework' ? (problem.detail ?? '') : problem, status);
}
