import type { ErrorRow } from './errors.js';

/** Of the catalogue (errors.ts): what can be wrong with a change of groups. */
export const GROUP_ERRORS = {
  GROUP_INVALID: {
    message: 'group {group}: {count} mistake(s): {details}',
    remedy: 'Correct what is named; docs/settings.md lists the keys of a group.',
    httpStatus: 422,
  },
  GROUP_CHANGED: {
    message: 'group {group} is not as expected: {reason}',
    remedy: 'Read the group again, and repeat the change with its new ETag.',
    httpStatus: 412,
  },
  GROUP_FROM_YAML: {
    message: 'group {group} stands in {source}: it cannot be deleted at run time',
    remedy: 'Take it out of the YAML of every node, or put quotas of 0 over it at run time.',
    httpStatus: 409,
  },
  GROUPS_FULL: {
    message: 'there is no room for group {group}: {max} groups came at run time',
    remedy: 'Raise registry.maxGroups at every node, or delete groups and restart the nodes.',
    httpStatus: 503,
  },
  REGISTRY_OFF: {
    message: 'groups cannot be changed at run time: the registry of this node is switched off',
    remedy: 'Set registry.enabled: true at every node, or change the YAML.',
    httpStatus: 409,
  },
  CHANGE_NOT_LOCAL: {
    message: 'groups cannot be changed from {address}: this node takes changes from its own machine alone',
    remedy: 'Ask from the machine of a node, or set registry.remoteChanges: true where nobody else reaches the port.',
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
