import type { RegistryConfig } from '../../config/resolved/resolved-config.js';
import { examineAttachment } from '../../config/rules/attachment-definition.js';
import type { Attachments } from '../../core/beside/attachments/attachments.js';
import type { GroupDefinition } from '../../core/beside/registry/registry-record.js';

interface BoundedAttachments {
  readonly attachments: Attachments;
  readonly registry: Pick<RegistryConfig, 'maxAttachments'>;
}

/**
 * Puts an attachment read from the log in force. Checks it again, as a newer version may have proposed it; returns why
 * it cannot be used, or null.
 */
export function applyAttachment(
  bounded: BoundedAttachments,
  path: string,
  definition: GroupDefinition | null,
  revision: number,
): string | null {
  const { attachments, registry } = bounded;
  if (definition === null) {
    attachments.define(path, null);
    return null;
  }
  const { [OWNER]: _, ...written } = definition;
  const { attachment, mistakes } = examineAttachment(path, written, `revision ${revision}`);
  if (attachment === null) return `${mistakes[0]?.path} ${mistakes[0]?.problem}`;
  if (isFull(bounded, path)) return `registry.maxAttachments = ${registry.maxAttachments}`;
  attachments.define(path, attachment);
  return null;
}

export function isFull({ attachments, registry }: BoundedAttachments, path: string): boolean {
  return attachments.at(path)?.origin !== 'run-time' && attachments.size >= registry.maxAttachments;
}

/** Key of an attachment in the log, beside those that YAML writes. */
export const OWNER = 'attachedBy';
