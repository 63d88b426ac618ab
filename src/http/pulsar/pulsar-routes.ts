import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import { attach, attachmentAt, detach } from '../../groups/changes/attaching.js';
import { definedGroup, deleteGroup, patchGroup, putGroup } from '../../groups/changes/change-group.js';
import type { ChangeParts } from '../../groups/changes/change-parts.js';
import { patchOfPulsar, type Spelling, toPulsarGroup } from '../../groups/changes/pulsar-group.js';
import { attachedBy, changedBy } from '../access/changed-by.js';
import { describedRoute, mappingIn, NO_QUERY } from '../route/described-route.js';
import { expectedOfGroup, expectedOfPlace, rejectUnknownQuery } from '../route/if-match.js';
import { changes, needs, type RouteAccess } from '../route/route-access.js';

/** Below it requests and answers are as Pulsar's admin client has them: errors have a `reason`, writes no body. */
export const PULSAR_PREFIX = '/admin/v2/';

interface NamedRoute {
  Params: { '*': string };
}

/**
 * PIP-82's REST and Pulsar's own, over the same calls as /v1: `resourcegroup` as the proposal spells it, `resourcegroups`
 * as Pulsar's client does. PUT makes a group or changes the rates that it names.
 */
export function addPulsarRoutes(app: FastifyInstance, node: ChangeParts): void {
  for (const { path, spelling } of GROUP_PATHS) {
    app.get(path, describe(VIEWING, 'Names of all groups'), () => [...node.groups.numbers.keys()].sort());
    app.get<NamedRoute>(`${path}/*`, describe(VIEWING, 'The rates of a group'), (request, reply) => {
      const name = request.params['*'];
      // With the slash alone it is the list (PIP-82).
      if (name === '') return [...node.groups.numbers.keys()].sort();
      const { group, revision } = definedGroup(node, name);
      return reply
        .header('etag', `"${revision}"`)
        .send(toPulsarGroup(node.groups.at(node.groups.numbers.get(group) as number), spelling));
    });
    app.put<NamedRoute>(
      `${path}/*`,
      describe(changes(null), 'Makes a group, or changes its rates'),
      async (request, reply) => {
        rejectUnknownQuery(request);
        await putRates(node, request);
        return noContent(reply);
      },
    );
    app.delete<NamedRoute>(
      `${path}/*`,
      describe(changes(null), 'Deletes a group; 412 while it is in use'),
      async (request, reply) => {
        rejectUnknownQuery(request);
        const name = request.params['*'];
        await deleteGroup(node, name, expectedOfGroup(request, node, name), changedBy(request));
        return noContent(reply);
      },
    );
  }
  for (const { path, level } of PLACE_PATHS) addPlaceRoutes(app, node, path, level);
}

const GROUP_PATHS: readonly { readonly path: string; readonly spelling: Spelling }[] = [
  { path: '/admin/v2/resourcegroup', spelling: 'pip-82' },
  { path: '/admin/v2/resourcegroups', spelling: 'pulsar' },
];

const PLACE_PATHS = [
  { path: '/admin/v2/namespaces/:tenant/:namespace/resourcegroup', level: 'namespace' },
  { path: '/admin/v2/tenants/:tenant/resourcegroup', level: 'tenant' },
] as const;

interface PlaceRoute {
  Params: { tenant: string; namespace?: string; '*': string };
}

function addPlaceRoutes(app: FastifyInstance, node: ChangeParts, path: string, level: 'tenant' | 'namespace'): void {
  app.get<PlaceRoute>(path, describe(VIEWING, `The group that a ${level} is attached to`), (request, reply) => {
    const { attachment, revision } = attachmentAt(node, placePath(request.params));
    const { group } = attachment;
    if (typeof group !== 'string') throw unknownPlace(request.params);
    reply.header('etag', `"${revision}"`);
    // The bare name, as Pulsar sends it: its client prints quotes that it is sent.
    return reply.header('content-type', 'application/json; charset=utf-8').serializer(String).send(group);
  });
  for (const method of ['PUT', 'POST'] as const) {
    app.route<PlaceRoute>({
      method,
      url: `${path}/*`,
      ...describe(CHANGING_PLACE, `Attaches a ${level} to a group`),
      handler: async (request, reply) => {
        rejectUnknownQuery(request);
        const [place, group] = [placePath(request.params), request.params['*']];
        await attach(node, place, { group }, expectedOfPlace(request, node, place), attachedBy(request));
        return noContent(reply);
      },
    });
  }
  app.delete<PlaceRoute>(path, describe(CHANGING_PLACE, `Detaches a ${level}`), async (request, reply) => {
    rejectUnknownQuery(request);
    const place = placePath(request.params);
    await detach(node, place, expectedOfPlace(request, node, place), attachedBy(request));
    return noContent(reply);
  });
}

/**
 * Only what is named changes, of a group that there is: `quota` of the others, weights and strategy stay. Whoever makes
 * a group that somebody else has just made changes it.
 */
async function putRates(node: ChangeParts, request: FastifyRequest<NamedRoute>): Promise<void> {
  const name = request.params['*'];
  const patch = patchOfPulsar(mappingIn(request.body ?? {}));
  const expected = expectedOfGroup(request, node, name);
  const by = changedBy(request);
  if (!node.groups.numbers.has(name)) {
    const isMade = await putGroup(node, name, patch, 0, by).then(
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

/** A slash that was percent-encoded in a name would make another place of it. */
function placePath({ tenant, namespace }: PlaceRoute['Params']): string {
  const names = namespace === undefined ? [tenant] : [tenant, namespace];
  if (names.some((name) => name.includes('/'))) throw unknownPlace({ tenant, namespace });
  return names.join('/');
}

function unknownPlace({ tenant, namespace }: { readonly tenant: string; readonly namespace?: string | undefined }) {
  const place = namespace === undefined ? tenant : `${tenant}/${namespace}`;
  return new QuotameshError('ATTACHMENT_UNKNOWN', { place: place.slice(0, 200) });
}

function noContent(reply: FastifyReply): FastifyReply {
  return reply.code(204).send();
}

const REASON = {
  description: 'Not done; `reason` says why.',
  type: 'object',
  properties: { reason: { type: 'string' } },
} as const;
const FAILURES = { 400: REASON, 403: REASON, 404: REASON, 409: REASON, 412: REASON, 422: REASON, 503: REASON };

const VIEWING = needs('viewer');
const CHANGING_PLACE = changes((params) => String(params.tenant));

function describe(access: RouteAccess, summary: string) {
  const schema: FastifySchema = { querystring: NO_QUERY, response: FAILURES };
  return describedRoute(access, 'pulsar', summary, schema);
}
