import { type ErrorRow, EXIT_CONFIG } from './error-row.js';

export const GROUP_ERRORS = {
  NODE_COUNT_INVALID: {
    message: 'the count of nodes cannot be set: {reason}',
    remedy: 'See topic.nodeCount in docs/reference/settings.md.',
  },
  GROUP_INVALID: {
    message: 'group {group}: {count} mistake(s): {details}',
    remedy: 'Correct what is named; docs/reference/settings.md lists the keys of a group.',
    httpStatus: 422,
  },
  GROUP_KEY_UNKNOWN: {
    message: 'group {group}: {details}',
    remedy: 'Correct the key, or leave it out; docs/reference/settings.md lists the keys of a group.',
    httpStatus: 422,
  },
  QUOTA_NEGATIVE: {
    message: 'group {group}: {details}',
    remedy: 'Write 0 to block, a rate above 0, or null for no limit.',
    httpStatus: 422,
  },
  QUOTA_TOO_LARGE: {
    message: 'group {group}: {details}',
    remedy: 'Write a rate of at most 1P, or null for no limit.',
    httpStatus: 422,
  },
  QUOTA_TOO_SMALL: {
    message: 'group {group}: {details}',
    remedy: 'Write 0 to block, a rate of at least 1e-9/s, or null for no limit.',
    httpStatus: 422,
  },
  RESERVED_ABOVE_QUOTA: {
    message: 'group {group}: {details}',
    remedy: 'Lower what is reserved, or raise the quota by cost.',
    httpStatus: 422,
  },
  STRICT_UNABLE: {
    message: 'group {group} is strict, and cannot {what}',
    remedy: 'Ask for tokens of it alone, before the work (acquire), or set promise: relaxed (docs/guide/strict.md).',
    httpStatus: 409,
  },
  SLOT_NEEDED: {
    message: 'group {group} limits concurrency: who asks must say when the work ends',
    remedy: 'Ask by node.enter or POST /v1/slots, and release the slot (docs/guide/concurrency.md).',
    httpStatus: 409,
  },
  BUDGET_UNABLE: {
    message: 'group {group} has a budget, and cannot {what}',
    remedy: 'Ask for its tokens alone, before the work (acquire), or remove the budget (docs/guide/budgets.md).',
    httpStatus: 409,
  },
  BUDGET_AMOUNT_MISSING: {
    message: 'group {group} has a budget in {unit}, and the request names none',
    remedy: 'Name {unit} beside the messages of each request; 0 costs nothing (docs/guide/budgets.md).',
    httpStatus: 400,
  },
  STRICT_TOPIC: {
    message: 'strict groups cannot be kept by a topic of kind {kind}: {reason}',
    remedy: 'Use another kind of topic, or set promise: relaxed (docs/guide/strict.md).',
    httpStatus: 409,
    exitCode: EXIT_CONFIG,
  },
  STRATEGY_UNKNOWN: {
    message: 'group {group}: {details}',
    remedy: 'docs/guide/strategies.md says when to choose which.',
    httpStatus: 422,
  },
  GROUP_CHANGED: {
    message: 'group {group} is not as expected: {reason}',
    remedy: 'Read the group again, and repeat the change with its new ETag.',
    httpStatus: 412,
  },
  GROUPS_INVALID: {
    message: '{count} of {of} groups are refused, and none is changed; the first: {first}',
    remedy: '`errors` names each of them, with what to do about it; correct them, and send all again.',
    httpStatus: 422,
  },
  GROUPS_CHANGED: {
    message: '{count} of {of} groups are not as expected, and none is changed; the first: {first}',
    remedy: '`errors` names each of them; read them again, and repeat the change with their new revisions.',
    httpStatus: 412,
  },
  FROM_YAML: {
    message: '{what} stands in {source}: it cannot be deleted at run time',
    remedy: 'Take it out of the YAML of every node, or put another one over it at run time: a group with quotas of 0.',
    httpStatus: 409,
  },
  GROUP_IN_USE: {
    message: 'group {group} is in use: {scopes} attached to it',
    remedy:
      'Detach them first, or delete it with ?force=true (CLI: --force), which detaches what was attached at run time.',
    httpStatus: 412,
  },
  SCOPE_UNATTACHED: {
    message: '{scope}: attached to no group, and there is no default group',
    remedy: 'Attach the tenant or namespace, set defaultGroup, or write a rule; `quotamesh group which` explains.',
    httpStatus: 404,
  },
  ATTACHMENT_UNKNOWN: {
    message: '{scope} is attached to nothing itself',
    remedy: 'GET /v1/attachments lists what is attached; `quotamesh group which` tells what limits it all the same.',
    httpStatus: 404,
  },
  ATTACHMENT_INVALID: {
    message: 'attachment of {scope}: {count} mistake(s): {details}',
    remedy: 'Correct what is named; docs/operate/administration.md shows what an attachment may say.',
    httpStatus: 422,
  },
  ATTACHMENT_DANGLING: {
    message: 'attachment of {scope}: {missing} does not exist',
    remedy: 'Make the group first, or attach the scope that sameAs names.',
    httpStatus: 412,
  },
  ATTACHMENT_CYCLIC: {
    message: 'attachment of {scope} leads in a circle: {circle}',
    remedy: 'Name a group at one of them.',
    httpStatus: 422,
  },
  ATTACHMENT_IN_USE: {
    message: '{scope} cannot be detached: {scopes} attached to the same as it (sameAs)',
    remedy: 'Detach or change those first.',
    httpStatus: 412,
  },
  ATTACHMENT_CHANGED: {
    message: 'the attachment of {scope} is not as expected: {reason}',
    remedy: 'Read it again, and repeat the change with its new ETag.',
    httpStatus: 412,
  },
  ATTACHMENT_OWNED: {
    message:
      '{caller} may not change the attachment of {scope}: {at} was attached by {owner}, and {caller} speaks only for {tenants}',
    remedy:
      "Ask the cluster's operator. A narrower scope may be attached with andBroader: true, which adds a limit and takes none away.",
    httpStatus: 403,
  },
  KEY_SILENT: {
    message: 'key {key} is silent at this node, or unused there, so it has no group there',
    remedy: 'See `quotamesh key show {key}`, or GET /v1/keys/{key}.',
    httpStatus: 404,
  },
  KEY_UNKNOWN: {
    message: 'no template has keys named {key}{near}',
    remedy:
      '`quotamesh key template list` shows the templates; a group of that name is shown by `quotamesh group get`.',
    httpStatus: 404,
  },
  LIMIT_DENIED: {
    message: 'no limit of its own for key {key}: {reason}',
    remedy:
      'Leave the limit out, or lower it; allowLimits of the template bounds it, and names the role that it takes.',
    httpStatus: 403,
  },
  LIMIT_INVALID: {
    message: 'limit of key {key}: {details}',
    remedy: 'Write what stands below quota in YAML, like { "publish": { "messagesPerSecond": "600/min" } }.',
    httpStatus: 422,
  },
  KEY_DEFINITION_INVALID: {
    message: '{what}: {count} mistake(s): {details}',
    remedy:
      'Correct what is named; docs/guide/keys.md shows templates, docs/reference/settings.md the keys of a group.',
    httpStatus: 422,
  },
  KEY_DEFINITION_UNKNOWN: {
    message: '{what} is not defined',
    remedy:
      '`quotamesh key template list`, or GET /v1/key-templates, lists what is: templates, and keys with settings of their own.',
    httpStatus: 404,
  },
  KEY_DEFINITION_CHANGED: {
    message: '{what} is not as expected: {reason}',
    remedy: 'Read it again, and repeat the change with its new ETag.',
    httpStatus: 412,
  },
  NAME_OF_NO_GROUP: {
    message: 'no group and no key has the name {name} that was made of the request',
    remedy: 'Correct what the request says of its sender.',
    httpStatus: 400,
  },
  GROUP_NOT_NAMED: {
    message: 'the request does not say to whom it is charged',
    remedy: 'Send what identifies you to the service, such as an API key.',
    httpStatus: 400,
  },
  KEYS_FULL: {
    message: 'there is no room for key {key}: keys.{bound} = {max}',
    remedy: 'Try again when other keys have been idle; or raise keys.{bound}, and see whether somebody makes keys up.',
    httpStatus: 503,
  },
  GROUPS_FULL: {
    message: 'there is no room for {what}: {max} groups, or templates and keys, were defined at run time',
    remedy: 'Raise registry.maxGroups at every node, or delete groups and restart the nodes.',
    httpStatus: 503,
  },
  ATTACHMENTS_FULL: {
    message: 'there is no room for an attachment of {scope}: {max} scopes were attached at run time',
    remedy: 'Attach what is broader (a namespace, a tenant), detach scopes, or write rules in YAML.',
    httpStatus: 503,
  },
  CHANGES_TOO_FAST: {
    message: 'this node takes {rate} changes per second',
    remedy: 'Try again after Retry-After; or make many changes as one batch.',
    httpStatus: 429,
  },
  REGISTRY_OFF: {
    message: 'groups cannot be changed at run time: the registry of this node is switched off',
    remedy: 'Set registry.enabled: true at every node, or change the YAML; a node of topic kind none has no registry.',
    httpStatus: 409,
  },
  CHANGE_NOT_LOCAL: {
    message: 'groups cannot be changed from {address}: this node takes changes from its own machine alone',
    remedy:
      'Ask from the machine of a node, add `auth:` (docs/operate/access.md), or set registry.remoteChanges: true where nobody else reaches the port.',
    httpStatus: 403,
  },
  CHANGE_UNCONFIRMED: {
    message: 'the change of group {group} is not confirmed: {reason}',
    remedy: 'It is in force as a whole or not at all: read the group, and repeat the change if it is missing.',
    httpStatus: 503,
  },
  CHANGE_REFUSED: {
    message: '{reason}',
    remedy: '{advice}',
    exitCode: 78,
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
