import { z } from 'zod';
import { told } from '../../base/input/input-mistakes.js';

const text = z.string().min(1).max(256);

/** Checks a pattern of a rule (core/beside/attachments/patterns.ts matches it). `allowed` completes "must be …". */
export function namePattern(allowed: string) {
  return told(text.refine(isNamePattern).nullish(), allowed);
}

export function topicPattern(allowed: string) {
  return told(text.refine(isTopicPattern).nullish(), allowed);
}

export function plainName(allowed: string) {
  return told(text.refine(isPlain).nullish(), allowed);
}

/** The name of a group, or one made of captures. */
export function groupTemplate(allowed: string) {
  return told(text.refine(isTemplate).nullish(), allowed);
}

export function headerPatterns(allowed: string) {
  const name = z.string().min(1).max(256);
  return told(z.record(name, text.refine(isNamePattern)).nullish(), allowed);
}

export const FLAG = told(z.boolean().nullish(), 'true or false');

export function capturesIn(pattern: string): string[] {
  return Array.from(pattern.matchAll(/\{(\w+)\}/g), ([, name]) => name);
}

/** Lists names in `group` that the rule neither captures nor sets. */
export function missingCaptures(group: string, said: readonly string[]): readonly string[] {
  return capturesIn(group).filter((name) => !said.includes(name));
}

export function addMissingCaptures(
  context: z.core.$RefinementCtx,
  { missing, allowed, matchers }: { missing: readonly string[]; allowed: string; matchers: readonly string[] },
): void {
  if (missing.length === 0) return;
  const message = `needs {${missing.join('} and {')}}, which nothing in the rule says`;
  const remedy = `Capture {${missing[0]}} in ${matchers.slice(0, -1).join(', ')} or ${matchers.at(-1)}, or set it.`;
  context.addIssue({ code: 'custom', path: ['group'], message, params: { allowed, remedy } });
}

/** At most three wildcards, with text between any two of them: otherwise a long name could take long to match. */
function isNamePattern(pattern: string): boolean {
  const parts = pattern.split(/(?:\{[a-zA-Z]\w*\}|\*)/);
  const distinct = new Set(capturesIn(pattern)).size === capturesIn(pattern).length;
  return distinct && parts.length <= 4 && parts.slice(1, -1).every((part) => part !== '') && parts.every(isPlain);
}

function isTopicPattern(pattern: string): boolean {
  const segments = pattern.split('/');
  return segments.every((segment, at) => {
    if (segment === '#') return at === segments.length - 1;
    return segment === '+' || /^\{[a-zA-Z]\w*\}$/.test(segment) || /^[^{}+#*]*$/.test(segment);
  });
}

function isPlain(name: string): boolean {
  return /^[^{}*]*$/.test(name);
}

function isTemplate(template: string): boolean {
  return isPlain(template.replaceAll(/\{[a-zA-Z]\w*\}/g, ''));
}
