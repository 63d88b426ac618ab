import type { FastifyInstance } from 'fastify';
import type { KeyEntry } from '../../../node/api/change-answers.js';
import {
  definedKeys,
  deleteKeys,
  entryText,
  isDefined,
  keyEntryOf,
  listKeyDefinitions,
  patchKeys,
  previewDeleteKeys,
  previewPatchKeys,
  previewPutKeys,
  putKeys,
} from '../../../node/groups/changes/change-keys.js';
import type { ChangeParts } from '../../../node/groups/changes/change-parts.js';
import { changedBy } from '../access/caller.js';
import {
  CHANGE_PROBLEMS,
  CHANGED_KEY_DEFINITION,
  KEY_DEFINITION,
  KEY_DEFINITION_OR_PREVIEW,
  KEY_DEFINITIONS,
  KEY_PREVIEW,
  PROBLEM,
} from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { anyObject, onOrOff, pathParams } from '../route/fields.js';
import { expectedOfKeys } from '../route/if-match.js';
import { NO_QUERY, route } from '../route/route.js';
import { changes, needs } from '../route/route-access.js';
import { sendDefined } from './group-routes.js';

/** Adds routes for templates and single keys' own settings; one record for all keys of one. */
export function addKeyRoutes(app: FastifyInstance, node: ChangeParts): void {
  route(app, {
    method: 'GET',
    url: '/v1/key-templates',
    access: needs('viewer'),
    tag: 'groups',
    summary: 'Lists the templates of keys in force, and the keys that run time has given settings of their own',
    query: NO_QUERY,
    answers: { 200: KEY_DEFINITIONS },
    handler: () => ({ definitions: listKeyDefinitions(node) }),
  });
  for (const kind of ['template', 'key'] as const) {
    addLook(app, node, kind);
    addWrites(app, node, kind);
    addDelete(app, node, kind);
  }
}

function addLook(app: FastifyInstance, node: ChangeParts, kind: KeyEntry['kind']): void {
  route(app, {
    method: 'GET',
    url: kind === 'key' ? `${URLS.key}/definition` : URLS.template,
    access: needs('viewer'),
    tag: 'groups',
    summary: `Shows ${WHAT[kind]} as YAML would write it; its ETag can be sent back as If-Match`,
    query: NO_QUERY,
    params: pathParams(kind),
    answers: { 200: KEY_DEFINITION, 404: PROBLEM },
    handler: ({ params }, reply) => sendDefined(reply, 200, definedKeys(node, keyEntryOf(kind, params[kind]))),
  });
}

function addWrites(app: FastifyInstance, node: ChangeParts, kind: KeyEntry['kind']): void {
  const what = WHAT[kind];
  const written = anyObject(`The keys of a group, as they stand below ${WHERE[kind]} in YAML.`);
  const answers = { 200: KEY_DEFINITION_OR_PREVIEW, 201: CHANGED_KEY_DEFINITION, ...CHANGE_PROBLEMS } as const;
  const writes = [
    ['PUT', `Makes ${what}, or replaces all of it; live keys follow`, previewPutKeys, putKeys],
    [
      'PATCH',
      `Changes single settings of ${what}, or makes it; null takes a setting away (RFC 7396)`,
      previewPatchKeys,
      patchKeys,
    ],
  ] as const;
  for (const [method, summary, preview, write] of writes) {
    route(app, {
      ...changeOf(kind),
      method,
      summary,
      body: written,
      answers,
      handler: async (request, reply) => {
        const entry = keyEntryOf(kind, request.params[kind]);
        const expected = expectedOfKeys(request, entryText(entry), isDefined(node, entry));
        if (request.query.dryRun === 'true') return preview(node, entry, request.body, expected);
        const { isNew, ...made } = await write(node, entry, request.body, expected, changedBy(request));
        return sendDefined(reply, isNew ? 201 : 200, made);
      },
    });
  }
}

function addDelete(app: FastifyInstance, node: ChangeParts, kind: KeyEntry['kind']): void {
  route(app, {
    ...changeOf(kind),
    method: 'DELETE',
    summary: `Deletes ${WHAT[kind]}, as far as it was defined at run time; what YAML says, if anything, is in force again`,
    answers: { 200: KEY_PREVIEW, 204: { description: 'It is deleted.', type: 'null' }, ...CHANGE_PROBLEMS },
    handler: async (request, reply) => {
      const entry = keyEntryOf(kind, request.params[kind]);
      const expected = expectedOfKeys(request, entryText(entry), isDefined(node, entry));
      if (request.query.dryRun === 'true') return previewDeleteKeys(node, entry, expected);
      await deleteKeys(node, entry, expected, changedBy(request));
      return reply.code(204).send();
    },
  });
}

/** Returns the parts that changes of definitions share. */
function changeOf<Kind extends KeyEntry['kind']>(kind: Kind) {
  return {
    tag: 'groups',
    query: body({ dryRun: onOrOff('True changes nothing, and shows what would follow.') }),
    params: pathParams(kind),
    url: URLS[kind],
    access: changes(null),
  } as const;
}

const URLS = { template: '/v1/key-templates/:template', key: '/v1/keys/:key' } as const;
const WHAT = { template: 'a template of keys', key: 'what a single key has of its own' } as const;
const WHERE = { template: 'keys.<pattern>', key: 'overrides.<key>' } as const;
