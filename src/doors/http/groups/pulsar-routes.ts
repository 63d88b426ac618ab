import type { FastifyInstance, FastifyRequest } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Mapping } from '../../../base/input/mapping.js';
import { attach, attachmentAt, detach } from '../../../node/groups/changes/attaching.js';
import {
  checkedDefinition,
  definedGroup,
  deleteGroup,
  patchGroup,
  putGroup,
} from '../../../node/groups/changes/change-group.js';
import type { ChangeParts } from '../../../node/groups/changes/change-parts.js';
import { patchOfPulsar, type Spelling, toPulsarGroup } from '../../../node/groups/changes/pulsar-group.js';
import { attachedBy, changedBy } from '../access/caller.js';
import { anyObject, pathParams } from '../route/fields.js';
import { expectedOfGroup, expectedOfScope } from '../route/if-match.js';
import { NO_QUERY, route } from '../route/route.js';
import { changes, needs } from '../route/route-access.js';

/** Prefix of paths that answer as Pulsar's admin client expects: errors have a `reason`, writes no body. */
export const PULSAR_PREFIX = '/admin/v2/';

/**
 * Adds the REST of Pulsar (`resourcegroups`) and PIP-82 (`resourcegroup`). It uses the calls of /v1. PUT makes a group,
 * or changes the rates that it names.
 */
export function addPulsarRoutes(app: FastifyInstance, node: ChangeParts): void {
  for (const paths of GROUP_PATHS) addRateRoutes(app, node, paths);
  for (const scopeKind of ['namespace', 'tenant'] as const) addScopeRoutes(app, node, scopeKind);
}

function addRateRoutes(app: FastifyInstance, node: ChangeParts, { path, spelling, deleted, aliasOf }: GroupPath): void {
  const names = () => [...node.groups.numbers.keys()].sort();
  const of = (end: string) => (aliasOf === undefined ? {} : { aliasOf: aliasOf + end });
  const named = { ...PULSAR, ...of('/*'), url: `${path}/*`, params: pathParams('*') };
  route(app, {
    ...PULSAR,
    ...of(''),
    method: 'GET',
    url: path,
    access: VIEWING,
    summary: 'Lists the names of all groups',
    handler: names,
  });
  route(app, {
    ...named,
    method: 'GET',
    access: VIEWING,
    summary: 'Shows the rates of a group',
    handler: ({ params: { '*': name } }, reply) => {
      // The slash alone lists (PIP-82).
      if (name === '') return names();
      const { revision } = definedGroup(node, name);
      const group = node.groups.at(node.groups.numbers.get(name) as number);
      return reply.header('etag', `"${revision}"`).send(toPulsarGroup(group, spelling));
    },
  });
  const access = changes(null);
  route(app, {
    ...named,
    method: 'PUT',
    access,
    summary: 'Makes a group, or changes its rates',
    body: RATES,
    handler: async (request, reply) => {
      await putRates(node, request, request.params['*'], request.body ?? {});
      return reply.code(204).send();
    },
  });
  route(app, {
    ...named,
    method: 'DELETE',
    access,
    summary: 'Deletes a group; answers 412 while something is attached to it',
    handler: async (request, reply) => {
      const name = request.params['*'];
      await deleteGroup(node, name, expectedOfGroup(request, node, name), changedBy(request));
      return reply.code(deleted).send();
    },
  });
}

interface GroupPath {
  readonly path: string;
  readonly spelling: Spelling;
  readonly deleted: 200 | 204;
  readonly aliasOf?: string;
}

const GROUP_PATHS: readonly GroupPath[] = [
  { path: '/admin/v2/resourcegroup', spelling: 'pip-82', deleted: 200 },
  { path: '/admin/v2/resourcegroups', spelling: 'pulsar', deleted: 204, aliasOf: '/admin/v2/resourcegroup' },
];

const SCOPE_PATHS = {
  namespace: '/admin/v2/namespaces/:tenant/:namespace/resourcegroup',
  tenant: '/admin/v2/tenants/:tenant/resourcegroup',
} as const;

interface ScopeParams {
  readonly tenant: string;
  readonly namespace?: string;
}

function addScopeRoutes(app: FastifyInstance, node: ChangeParts, scopeKind: keyof typeof SCOPE_PATHS): void {
  const path = SCOPE_PATHS[scopeKind];
  const scope = scopeKind === 'tenant' ? pathParams('tenant') : pathParams('tenant', 'namespace');
  const described = { ...PULSAR, url: path, params: scope };
  route(app, {
    ...described,
    method: 'GET',
    access: VIEWING,
    summary: `Shows the group that a ${scopeKind} is attached to`,
    handler: ({ params }, reply) => {
      const path = scopePath(params);
      const { attachment, revision } = attachmentAt(node, path);
      const { group } = attachment;
      if (typeof group !== 'string') throw unknownScope(path);
      reply.header('etag', `"${revision}"`);
      // A bare name: Pulsar's client would print quotes.
      return reply.header('content-type', 'application/json; charset=utf-8').serializer(String).send(group);
    },
  });
  const access = changes((params) => String(params.tenant));
  for (const method of ['PUT', 'POST'] as const) {
    const params = scopeKind === 'tenant' ? pathParams('tenant', '*') : pathParams('tenant', 'namespace', '*');
    route(app, {
      ...PULSAR,
      method,
      url: `${path}/*`,
      params,
      access,
      summary: `Attaches a ${scopeKind} to a group`,
      handler: async (request, reply) => {
        const [at, group] = [scopePath(request.params), request.params['*']];
        await attach(node, at, { group }, expectedOfScope(request, node, at), attachedBy(request));
        return reply.code(204).send();
      },
    });
  }
  route(app, {
    ...described,
    method: 'DELETE',
    access,
    summary: `Detaches a ${scopeKind}`,
    handler: async (request, reply) => {
      const at = scopePath(request.params);
      await detach(node, at, expectedOfScope(request, node, at), attachedBy(request));
      // 200 by PIP-82; Pulsar's client on the same path takes it too.
      return reply.code(200).send();
    },
  });
}

/** Changes only the named rates of a group, or makes it; changes it too where somebody else has just made it. */
async function putRates(node: ChangeParts, request: FastifyRequest, name: string, rates: Mapping): Promise<void> {
  const patch = patchOfPulsar(rates);
  const expected = expectedOfGroup(request, node, name);
  const by = changedBy(request);
  if (!node.groups.numbers.has(name)) {
    const isMade = await putGroup(node, name, checkedDefinition(node, name, patch), 0, by).then(
      () => true,
      (error: unknown) => {
        const isLate = error instanceof QuotameshError && error.code === 'GROUP_CHANGED';
        if (!isLate || expected !== null || !node.groups.numbers.has(name)) throw error;
        return false;
      },
    );
    if (isMade) return;
  }
  await patchGroup(node, name, patch, expected, by);
}

/** Joins tenant and namespace; rejects an encoded slash, which would name another path. */
function scopePath({ tenant, namespace }: ScopeParams): string {
  const names = namespace === undefined ? [tenant] : [tenant, namespace];
  const path = names.join('/');
  if (names.some((name) => name.includes('/'))) throw unknownScope(path);
  return path;
}

function unknownScope(path: string): QuotameshError {
  return new QuotameshError('ATTACHMENT_UNKNOWN', { scope: path.slice(0, 200) });
}

const REASON = {
  description: 'Nothing was changed; `reason` says why.',
  type: 'object',
  properties: { reason: { type: 'string' } },
} as const;
const FAILURES = { 400: REASON, 403: REASON, 404: REASON, 409: REASON, 412: REASON, 422: REASON, 503: REASON };

const PULSAR = { tag: 'pulsar', query: NO_QUERY, answers: FAILURES } as const;
const VIEWING = needs('viewer');

/** Rates by the names of PIP-82 or Pulsar (groups/changes/pulsar-group.ts); Pulsar's client may send none. */
const RATES = anyObject(
  'The rates as Pulsar names them, such as publishRateInMsgs. What is not named stays as it is.',
).nullable();
