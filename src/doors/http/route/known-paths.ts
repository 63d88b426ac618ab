import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';

/** Answers 405 or 404 where fastify has no route: before reading a body. */
export class KnownPaths {
  readonly #methods = new Map<string, { readonly pattern: RegExp; readonly allowed: Set<string> }>();
  /** Path of Pulsar's clients → path of the same routes. */
  readonly aliases: Record<string, string> = {};

  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ method, path, config }) => {
      if (config?.aliasOf !== undefined) this.aliases[path] = config.aliasOf;
      const known = this.#methods.get(path) ?? { pattern: patternOf(path), allowed: new Set() };
      this.#methods.set(path, known);
      for (const one of [method].flat()) known.allowed.add(one);
    });
  }

  /** Returns routes like `GET /livez`, each once. */
  get routes(): string[] {
    const own = [...this.#methods].filter(([path]) => !Object.hasOwn(this.aliases, path));
    return own.flatMap(([path, { allowed }]) =>
      [...allowed].filter((method) => method !== 'HEAD').map((method) => `${method} ${path}`),
    );
  }

  /** Makes the error for a request that has no route; names the methods that its path has. */
  refusal({ method, url }: FastifyRequest, reply: FastifyReply): QuotameshError {
    const path = url.split('?', 1)[0] as string;
    const known = [...this.#methods.values()].find(({ pattern }) => pattern.test(path));
    if (known === undefined) return new QuotameshError('ROUTE_UNKNOWN', { method, path: path.slice(0, 200) });
    reply.header('allow', [...known.allowed].join(', '));
    return new QuotameshError('METHOD_NOT_ALLOWED', { method, path: path.slice(0, 200) });
  }
}

/** Matches a path as fastify's router does: `:name` is a part of it, `*` the rest. */
function patternOf(path: string): RegExp {
  const parts = path
    .replaceAll('.', '\\.')
    .replace(/:[^/]+/g, '[^/]+')
    .replace('*', '.*');
  return new RegExp(`^${parts}$`);
}
