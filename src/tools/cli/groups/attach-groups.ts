import { printable } from '../../../base/errors/printable.js';
import { segmentOf } from '../../../config/setting/path-segment.js';
import type { Scope } from '../../../core/beside/attachments/attachment.js';
import type { Resolution } from '../../../core/beside/attachments/attachments.js';
import type { AttachedTo } from '../../../node/groups/changes/attaching.js';
import type { SampleOf } from '../../node-client/answer-sample.js';
import { change, get, nodeAddress } from '../../node-client/node-requests.js';
import { print, usage } from '../../terminal/print.js';
import type { GroupOptions } from './group-command.js';

export const ATTACHED: SampleOf<AttachedTo> = { scope: '', origin: '', revision: 0, attachment: {} };

export async function attachScope(group: string | undefined, options: GroupOptions): Promise<void> {
  const { exempt, sameAs, andBroader, ifRevision: expected, json = false } = options;
  if ([group, sameAs, exempt].filter((one) => one !== undefined).length !== 1) {
    throw usage('name a group, or --same-as, or --exempt: one of the three');
  }
  const body = { group, sameAs, exempt, andBroader };
  const path = attachmentPath(scopeOf(options));
  const attached = await change<AttachedTo>(nodeAddress(options), { method: 'PUT', path, body, expected }, ATTACHED);
  if (attached === null) return;
  print(json ? JSON.stringify(attached) : printable(`${attached.scope}: revision ${attached.revision}`));
}

export async function detachScope(options: GroupOptions): Promise<void> {
  const { ifRevision: expected, json = false } = options;
  const node = nodeAddress(options);
  const scope = scopeOf(options);
  await change(node, { method: 'DELETE', path: attachmentPath(scope), expected });
  print(json ? JSON.stringify({ scope, detached: true }) : `${scope}: detached`);
}

export async function whichGroups(options: GroupOptions): Promise<void> {
  const { tenant, namespace, topic, client, header = [], json = false } = options;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ tenant, namespace, topic, client })) {
    if (value !== undefined) query.append(name, value);
  }
  for (const one of header) query.append('header', one);
  const found = await get<Which>(nodeAddress(options), `/v1/which?${query}`, WHICH);
  print(json ? JSON.stringify(found) : whichText(found).map(printable).join('\n'));
}

interface Which extends Resolution {
  readonly scope: Scope;
  /** True = nothing is attached, and the default group is in force. */
  readonly isDefault: boolean;
}

const WHICH = { groups: [''], exempt: true, isDefault: true, because: [{ level: '', at: '', via: [''] }] } as const;

/** Writes the verdict, then every attachment that counts, in order. */
function whichText({ groups, exempt, isDefault, because }: Which): string[] {
  const all = groups.length > 1 ? ', all at once: the stricter wins' : '';
  const verdict = exempt ? 'exempt: nothing limits it' : groups.join(', ') || 'nothing is attached: refused';
  return [
    `${verdict}${all}${isDefault ? ' (default group: nothing is attached)' : ''}`,
    ...because.map(({ level, at, origin, via, group, andBroader }) => {
      const over = via.length === 0 ? '' : `, same as ${via.join(', ')}`;
      const more = andBroader ? '; and broader' : '';
      return `  ${level === 'rule' ? at : `${level} ${at}`} → ${group ?? 'exempt'} (${origin}${over})${more}`;
    }),
  ];
}

function scopeOf({ tenant, namespace, topic }: GroupOptions): string {
  if (tenant === undefined) throw usage('name a --tenant');
  if (topic !== undefined && namespace === undefined) throw usage('a --topic needs a --namespace');
  return [tenant, namespace, topic].filter((name) => name !== undefined).join('/');
}

export function attachmentPath(scope: string): string {
  return `/v1/attachments/${scope.split('/').map(segmentOf).join('/')}`;
}
