import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type HttpScene, httpScene, readyScene } from './http-scene.js';

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

interface Description {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

describe('GET /openapi.json', () => {
  let scene: HttpScene;
  let described: Description;
  beforeAll(async () => {
    scene = await readyScene();
    described = (await scene.get('/openapi.json')).body as unknown as Description;
  });
  afterAll(() => scene.close());

  it('describes every route, and nothing else', async () => {
    const routes = Object.entries(described.paths).flatMap(([path, operations]) => {
      return Object.keys(operations).map(
        (method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1').replace('{*}', '*')}`,
      );
    });
    const { body } = await scene.get('/');
    const aliases = body.aliases as Readonly<Record<string, string>>;
    const listed = routes.filter((route) => !Object.hasOwn(aliases, route.split(' ')[1]));
    expect(listed.sort()).toEqual([...(body.routes as string[])].sort());
    expect(aliases).toEqual({
      '/admin/v2/resourcegroups': '/admin/v2/resourcegroup',
      '/admin/v2/resourcegroups/*': '/admin/v2/resourcegroup/*',
    });
    expect(described.openapi).toBe('3.1.0');
  });

  it('no GET ignores a parameter that it does not know, but for probes, the index and this', async () => {
    const ignoring: string[] = [];
    for (const [path, { get }] of Object.entries(described.paths)) {
      if (get === undefined) continue;
      const { status } = await scene.get(`${path.replaceAll(/\{.+?\}/g, 'orders')}?misspelt=1`);
      if (status !== 422) ignoring.push(path);
    }
    expect(ignoring.sort()).toEqual(['/', '/livez', '/openapi.json', '/readyz']);
  });

  it('every summary begins with a verb, and every description is a sentence', () => {
    const { summary, description } = textsIn(described);
    expect(summary.length).toBeGreaterThan(30);
    expect(summary.filter((text) => !/^[A-Z][a-z]+s\b.*[^.]$/.test(text))).toEqual([]);
    expect(description.length).toBeGreaterThan(60);
    // @fastify/swagger's own words where an answer has none.
    const own = description.filter((text) => text !== 'Default Response');
    const noSentences = own.filter((text) => {
      return !/^[A-Z`].* .*\.$/s.test(text) || /^(Of|That of|Those of|As)\b/.test(text);
    });
    expect(noSentences).toEqual([]);
  });

  it('the schema of the body is the one that validates', () => {
    const operation = operationOf(described, 'post', '/v1/acquire');
    const schema = operation.requestBody?.content['application/json']?.schema;
    expect(schema).toMatchObject({
      anyOf: [{ required: ['messages'] }, { required: ['bytes'] }],
      additionalProperties: false,
    });
    expect(Object.keys((schema as { properties: object }).properties).join(' ')).toBe(
      'group key tenant namespace headers topic client ' +
        'direction limit messages bytes tokens cents retry atMost priority cost reserve waitMs',
    );
  });

  it('every answer is as described', async () => {
    const check = checker();
    await scene.acquire({ group: 'blocked', messages: 1 });
    const answers: readonly (readonly [string, string, Answer])[] = [
      ['post', '/v1/acquire', await scene.acquire({ group: 'orders', messages: 1 })],
      ['post', '/v1/acquire', await scene.acquire({ group: 'blocked', messages: 1 })],
      ['post', '/v1/acquire', await scene.acquire({ group: 'nope', messages: 1 })],
      ['post', '/v1/acquire', await scene.acquire({ group: 'orders', messages: -1 })],
      ['post', '/v1/acquire', await scene.acquire([])],
      ['get', '/v1/groups', await scene.get('/v1/groups')],
      ['get', '/v1/groups/{group}', await scene.get('/v1/groups/orders')],
      ['get', '/v1/groups/{group}', await scene.get('/v1/groups/nope')],
      ['get', '/v1/nodes', await scene.get('/v1/nodes')],
      ['get', '/livez', await scene.get('/livez')],
      ['get', '/readyz', await scene.get('/readyz')],
      ['get', '/', await scene.get('/')],
    ];
    const nodes = operationOf(described, 'get', '/v1/nodes');
    const more = { ...(await scene.get('/v1/nodes')).body, forgotten: 1 };
    expect(await mismatches(check, nodes, { ...(await scene.get('/v1/nodes')), body: more })).toHaveLength(1);
    const early = await httpScene();
    const notReady: readonly (readonly [string, string, Answer])[] = [
      ['post', '/v1/acquire', await early.acquire({ group: 'orders', messages: 1 })],
      ['get', '/readyz', await early.get('/readyz')],
      ['get', '/v1/nodes', await early.get('/v1/nodes')],
      ['get', '/v1/groups/{group}', await early.get('/v1/groups/orders')],
    ];
    for (const [method, path, answer] of [...answers, ...notReady]) {
      expect(await mismatches(check, operationOf(described, method, path), answer), `${method} ${path}`).toEqual([]);
    }
    await early.close();
  });
});

function operationOf(described: Description, method: string, path: string): Operation {
  const operation = described.paths[path]?.[method];
  if (operation === undefined) throw new Error(`${method} ${path} is not described`);
  return operation;
}

function mismatches(check: Check, operation: Operation, { status, headers, body }: Answer): Promise<string[]> {
  const mediaType = String(headers['content-type']).split(';')[0];
  const schema = operation.responses[String(status)]?.content?.[mediaType]?.schema;
  return schema === undefined ? Promise.resolve([`${status} ${mediaType} is not described`]) : check(schema, body);
}

type Check = (schema: object, body: unknown) => Promise<string[]>;

/** fastify's own validator, so that no other JSON Schema library is needed; it is to be had inside a request only. */
function checker(): Check {
  const app = fastify({ ajv: { customOptions: { removeAdditional: false, coerceTypes: false } } });
  app.post<{ Body: { schema: object; body: unknown } }>('/', (request, reply) => {
    const validate = request.compileValidationSchema(request.body.schema);
    const errors = validate(request.body.body) ? [] : (validate.errors ?? []);
    reply.send(errors.map(({ instancePath, message }) => `${instancePath} ${message}`));
  });
  return async (schema, body) => (await app.inject({ method: 'POST', url: '/', payload: { schema, body } })).json();
}

/** The texts of a document for people, each once; names of fields may be the same words. */
function textsIn(document: unknown): Readonly<Record<'summary' | 'description', readonly string[]>> {
  const found = { summary: new Set<string>(), description: new Set<string>() };
  const look = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, below] of Object.entries(value)) {
      if ((key === 'summary' || key === 'description') && typeof below === 'string') found[key].add(below);
      look(below);
    }
  };
  look(document);
  return { summary: [...found.summary], description: [...found.description] };
}
