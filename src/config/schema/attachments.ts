import { z } from 'zod';
import { told } from '../../base/input/input-mistakes.js';
import type { Attachment, AttachmentRule } from '../../core/beside/attachments/attachment.js';
import { section } from '../setting/section.js';
import { GROUP_NAME, type NamePattern } from '../setting/setting.js';
import {
  addMissingCaptures,
  capturesIn,
  FLAG,
  groupTemplate,
  headerPatterns,
  missingCaptures,
  namePattern,
  topicPattern,
} from './rule-patterns.js';

/** `acme`, `acme/orders`, `acme/orders/a/b`. As strict as names of groups: they stand in keys, paths and log lines. */
export const SCOPE_PATH: NamePattern = {
  matches: /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.:@+~=-]{1,128}(?:\/[\w.:@+~=-]{1,128}(?:\/[\w.:@+~=/-]{1,200})?)?$/,
  text: 'tenant, tenant/namespace or tenant/namespace/topic, of letters, digits and _ . : @ + ~ = -',
};

const isScopePath = (path: string) => SCOPE_PATH.matches.test(path);

/** Names the group of a scope; a text is short for `{ group }`. */
export const ATTACHMENT = told(
  z
    .strictObject({
      group: told(z.string().regex(GROUP_NAME.matches).nullish(), 'the name of a group'),
      sameAs: told(z.string().refine(isScopePath).nullish(), `the path of another scope: ${SCOPE_PATH.text}`),
      exempt: FLAG,
      andBroader: FLAG,
    })
    .superRefine(({ group, sameAs, exempt }, context) => {
      const said = [group, sameAs, exempt || null].filter((value) => (value ?? null) !== null);
      if (said.length === 1 || (said.length === 0 && hasUnknownKey(context))) return;
      const allowed = 'exactly one of group, sameAs and exempt: true';
      const params = { allowed, remedy: 'Remove the others, or add one.' };
      context.addIssue({ code: 'custom', path: [], message: `must have ${allowed}`, params });
    })
    .transform(({ group = null, sameAs = null, exempt, andBroader }): Attachment => {
      return { group, sameAs, exempt: exempt ?? false, andBroader: andBroader ?? false };
    }),
  'a group, or a mapping with group, sameAs, exempt, andBroader',
);

/** Keys by which a rule chooses work. A rule without any of them matches all work. */
export const ATTACHMENT_MATCHERS = ['tenant', 'namespace', 'topic', 'client', 'headers'] as const;

const NAME = 'in which * is anything and {name} is captured';
const TOPIC = 'levels separated by /; + is any level, {name} captures one, # at the end is the rest, e.g. "audit/#"';
const GROUP =
  'the name of a group or key, or one made of {tenant}, {namespace}, {client} and captures, e.g. "{tenant}-premium" or "key:{client}"';

/** Says by patterns which work belongs to which group. Names of headers are read as lower case. */
export const ATTACHMENT_RULE = z
  .strictObject({
    tenant: namePattern(`a tenant ${NAME}, e.g. "trial-*"`),
    namespace: namePattern(`a namespace ${NAME}, e.g. "*-archive"`),
    topic: topicPattern(TOPIC),
    client: namePattern(`a client identity ${NAME}, e.g. "replicator-*"`),
    headers: headerPatterns(`a mapping of header to a value ${NAME}, e.g. { x-tier: free }`),
    group: groupTemplate(GROUP),
    exempt: FLAG,
    andBroader: FLAG,
  })
  .superRefine(({ tenant, namespace, topic, client, headers, group, exempt }, context) => {
    const isExempt = exempt ?? false;
    const namesGroup = (group ?? null) !== null;
    if (!namesGroup && !isExempt && hasUnknownKey(context)) return;
    if (namesGroup === isExempt) {
      const message = isExempt
        ? 'names a group and is exempt: only one of the two can hold'
        : 'says neither what group nor exempt: true';
      const remedy = 'Name a group, or write exempt: true for traffic that nothing limits.';
      context.addIssue({ code: 'custom', path: [], message, params: { allowed: 'group, or exempt: true', remedy } });
      return;
    }
    const patterns = [tenant, namespace, topic, client, ...Object.values(headers ?? {})];
    const said = ['tenant', 'namespace', 'client', ...patterns.flatMap((pattern) => capturesIn(pattern ?? ''))];
    const missing = missingCaptures(group ?? '', said);
    addMissingCaptures(context, { missing, allowed: GROUP, matchers: ATTACHMENT_MATCHERS });
  })
  .transform(
    ({ tenant = null, namespace = null, topic = null, client = null, group = null, ...rule }): AttachmentRule => {
      const headers = Object.entries(rule.headers ?? {}).map(([name, pattern]) => [name.toLowerCase(), pattern]);
      const { exempt, andBroader } = rule;
      const flags = { exempt: exempt ?? false, andBroader: andBroader ?? false };
      return { tenant, namespace, topic, client, headers: Object.fromEntries(headers), group, ...flags };
    },
  );

/** Tells whether an unknown key was found already: the likely cause of a missing group. */
function hasUnknownKey({ issues }: z.core.$RefinementCtx): boolean {
  return issues.some(({ code }) => code === 'unrecognized_keys');
}

/** Attaches scopes to groups (docs/operate/administration.md). Attachments of run time replace them, scope by scope. */
export const ATTACHMENTS = section({
  scopes: {
    kind: 'entries',
    of: {
      schema: z.record(z.string(), z.union([z.string(), ATTACHMENT]).nullable()),
      text: 'a mapping of tenant, tenant/namespace or tenant/namespace/topic to group, e.g. { acme/orders: gold }',
    },
    default: null,
    defaultText: 'none',
    missedBy: 'tenants, namespaces and topics (PIP-82)',
    buys: 'Acquires may name tenant, namespace and topic; PIP-82 attaches tenants and namespaces.',
    costs: 'Three look-ups per acquire that names no group. All nodes must be configured alike.',
  },
  rules: {
    kind: 'entries',
    of: { schema: z.array(ATTACHMENT_RULE), text: 'a list of rules (docs/operate/administration.md)' },
    default: null,
    defaultText: 'none',
    missedBy: 'whoever knows a tenant by its work',
    buys: 'Groups by patterns of tenant, namespace, topic, client identity and headers, before all scopes.',
    costs: 'A rule is looked at per acquire until one matches. At run time they cannot be changed.',
  },
});
