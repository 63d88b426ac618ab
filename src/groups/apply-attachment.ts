import { examineAttachment } from '../config/rules/attachment-definition.js';
import type { GroupDefinition } from '../core/registry/registry-record.js';
import type { QuotaNode } from '../node/quota-node.js';

/**
 * Of the log: checked when it was proposed, but perhaps by a newer version. Returns why it cannot be used here, or
 * null.
 */
export function applyAttachment(
  node: QuotaNode,
  path: string,
  definition: GroupDefinition | null,
  revision: number,
): string | null {
  const attachments = attachmentsOf(node);
  if (definition === null) {
    attachments.define(path, null);
    return null;
  }
  const { attachment, mistakes } = examineAttachment(path, withoutOwner(definition), `revision ${revision}`);
  if (attachment === null) return `${mistakes[0]?.path} ${mistakes[0]?.problem}`;
  if (isFull(node, path)) return `registry.maxAttachments = ${node.config.registry.maxAttachments}`;
  attachments.define(path, attachment);
  return null;
}

export function attachmentsOf(node: QuotaNode) {
  return node.gate.places.attachments;
}

export function isFull(node: QuotaNode, path: string): boolean {
  const attachments = attachmentsOf(node);
  return attachments.at(path)?.origin !== 'run-time' && attachments.size >= node.config.registry.maxAttachments;
}

/** The attachment as YAML writes it. */
export function withoutOwner(definition: GroupDefinition): GroupDefinition {
  const { [OWNER]: _, ...attachment } = definition;
  return attachment;
}

export const OWNER = 'attachedBy';
