import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EnvoyStatus } from '../../../src/doors/envoy/envoy-status.js';
import type { MqttStatus } from '../../../src/doors/mqtt/mqtt-status.js';
import { someOf } from '../../property/seed.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';
import { KEEPER_STATUS } from '../kafka-quotas/keeper-status-of.js';
import { AUTH, bearer, MANY_FAILURES, TOKENS, type Who } from './access-scene.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const PAGE = readFileSync(new URL('../../../docs/operate/access.md', import.meta.url), 'utf8');
/** `GET /v1/groups` → role, from the table of docs/operate/access.md: what is not there is refused. */
const DOCUMENTED = new Map(
  [...PAGE.matchAll(/^\| `([A-Z]+ \/\S*)` \| ([a-z]+)/gm)].map(([, route = '', role = '']) => [route, role]),
);
const SUFFICIENT: Readonly<Record<string, readonly Who[]>> = {
  viewer: ['viewer', 'operator', 'admin', 'acme'],
  traffic: ['traffic', 'consume', 'admin'],
  operator: ['operator', 'admin', 'acme'],
  admin: ['admin'],
  anybody: ['admin', 'operator', 'consume', 'traffic', 'viewer', 'acme'],
};

const ENVOY = {
  failed: {},
  ended: {},
  refusedBy: {},
  requests: { ok: 0, overLimit: 0 },
  descriptors: { granted: 0, refused: 0, unlimited: 0 },
  quota: { streams: 0, buckets: 0, reports: 0, assignments: 0, refused: {} },
  reservations: { open: 0, committed: 0, expired: 0 },
} as EnvoyStatus;

let scene: HttpScene;
/** Each by all its names. */
let routes: readonly string[];
beforeAll(async () => {
  const [mqtt, kafkaQuotas, envoy] = [() => ({}) as MqttStatus, () => KEEPER_STATUS, () => ENVOY];
  scene = await readyScene({ auth: AUTH, constants: MANY_FAILURES }, mqtt, kafkaQuotas, envoy);
  const index = await scene.app.inject({ url: '/', headers: bearer(TOKENS.viewer) });
  const { routes: named, aliases } = index.json() as { routes: string[]; aliases: Record<string, string> };
  const others = Object.entries(aliases).flatMap(([alias, path]) => {
    return named.filter((route) => route.endsWith(` ${path}`)).map((route) => route.replace(path, alias));
  });
  routes = [...named, ...others];
});
afterAll(() => scene.close());

async function ask(method: string, path: string, token: string | null) {
  const url = path.replaceAll(/:\w+|\*/g, 'x');
  const headers = token === null ? {} : bearer(token);
  return await scene.app.inject({ method: method as 'GET', url, headers });
}

/** What a refusal looks like, on every path. */
async function refusalOf(method: string, path: string, token: string | null) {
  const { statusCode, headers, payload } = await ask(method, path, token);
  const isProblem = /^application\/(problem\+)?json/.test(String(headers['content-type']));
  return {
    status: statusCode,
    isProblem,
    asks: headers['www-authenticate'] !== undefined,
    code: codeIn(method, payload),
  };
}

function codeIn(method: string, payload: string): string {
  if (method === 'HEAD' || !payload.startsWith('{')) return '';
  return (JSON.parse(payload) as { code?: string }).code ?? '';
}

describe('the routes of the running server', () => {
  test('are those of docs/operate/access.md, no more and no fewer', () => {
    expect([...DOCUMENTED.keys()].sort()).toEqual([...routes].sort());
    expect(routes.length).toBeGreaterThan(40);
  });

  test('say in /openapi.json what they ask for', async () => {
    const document = (await ask('GET', '/openapi.json', TOKENS.traffic)).json();
    expect(Object.keys(document.components.securitySchemes)).toEqual(['bearer', 'clientCertificate']);
    expect(document.paths['/v1/acquire'].post.security).toEqual([
      { bearer: ['traffic'] },
      { clientCertificate: ['traffic'] },
    ]);
    expect(document.paths['/livez'].get.security).toEqual([]);
  });
});

describe('role × route × method', () => {
  test('without a token, or with a wrong one, nothing but the open routes answers', async () => {
    const paths = new Set([...routes.map((route) => route.split(' ')[1]), '/nowhere', '/admin/v2/nowhere']);
    for (const path of paths) {
      for (const method of METHODS) {
        const isOpen = DOCUMENTED.get(`${method === 'HEAD' ? 'GET' : method} ${path}`) === 'open';
        for (const token of [null, 'qm_wrong']) {
          const refusal = await refusalOf(method, path, token);
          const what = `${method} ${path} with ${token}`;
          if (isOpen) expect(refusal.status, what).toBe(200);
          else if (method === 'HEAD') expect(refusal, what).toMatchObject({ status: 401, asks: true });
          else expect(refusal, what).toEqual({ status: 401, isProblem: true, asks: true, code: 'AUTH_FAILED' });
        }
      }
    }
  });

  test.each(someOf(Object.keys(TOKENS) as Who[]))('as %s', async (who) => {
    const paths = new Set(routes.map((route) => route.split(' ')[1]));
    let allowed = 0;
    for (const path of paths) {
      for (const method of METHODS) {
        const needed = DOCUMENTED.get(`${method === 'HEAD' ? 'GET' : method} ${path}`);
        const what = `${method} ${path} as ${who}`;
        if (needed === 'open') continue;
        const { status, isProblem, code } = await refusalOf(method, path, TOKENS[who]);
        if (needed === undefined) {
          expect(status, what).toBe(405);
        } else if (SUFFICIENT[needed]?.includes(who) !== true) {
          expect({ status, isProblem, code: code || 'ROLE_MISSING' }, what).toEqual({
            status: 403,
            isProblem: true,
            code: 'ROLE_MISSING',
          });
        } else if (who === 'acme' && needed === 'operator') {
          expect({ status, code: code || 'TENANT_DENIED' }, what).toEqual({ status: 403, code: 'TENANT_DENIED' });
        } else {
          allowed++;
          expect([401, 403, 405, 500], what).not.toContain(status);
        }
      }
    }
    expect(allowed).toBeGreaterThan(5);
  });

  test('a path that is not there is 404 for whoever may ask at all', async () => {
    expect((await refusalOf('GET', '/nowhere', TOKENS.traffic)).status).toBe(404);
    expect((await refusalOf('POST', '/nowhere', TOKENS.viewer)).status).toBe(404);
  });
});

describe('priority immediate, alone and in bulk', () => {
  const body = { group: 'orders', messages: 1, priority: 'immediate' };

  test.each([
    ['traffic', 403],
    ['consume', 200],
    ['admin', 200],
  ] as const)('is granted to the role consume: %s gets %d', async (who, status) => {
    const headers = bearer(TOKENS[who]);
    const one = await scene.ask('POST', '/v1/acquire', body, { headers });
    const many = await scene.ask('POST', '/v1/acquire/bulk', { requests: [body] }, { headers });
    expect([one.status, many.body.answers]).toMatchObject([status, [{ status }]]);
    if (status === 403) expect(one.body).toMatchObject({ code: 'ROLE_MISSING' });
  });
});
