import { z } from 'zod';

/** What patterns in rules may look like (core/attachments/patterns.ts matches them). */
export const ruleText = z.string().min(1).max(256).nullish();

export function capturesIn(pattern: string): string[] {
  return Array.from(pattern.matchAll(/\{(\w+)\}/g), ([, name]) => name as string);
}

/** At most three wildcards, and something between two of them: matching stays quick whatever a client calls itself. */
export function isNamePattern(pattern: string | null | undefined): boolean {
  const parts = (pattern ?? '').split(/(?:\{[a-zA-Z]\w*\}|\*)/);
  const distinct = new Set(capturesIn(pattern ?? '')).size === capturesIn(pattern ?? '').length;
  return distinct && parts.length <= 4 && parts.slice(1, -1).every((part) => part !== '') && parts.every(isPlain);
}

export function isTopicPattern(pattern: string | null | undefined): boolean {
  const levels = (pattern ?? '').split('/');
  return levels.every((level, at) => {
    if (level === '#') return at === levels.length - 1;
    return level === '+' || /^\{[a-zA-Z]\w*\}$/.test(level) || /^[^{}+#*]*$/.test(level);
  });
}

export function isPlain(name: string | null | undefined): boolean {
  return /^[^{}*]*$/.test(name ?? '');
}

export function isTemplate(template: string | null | undefined): boolean {
  return isPlain((template ?? '').replaceAll(/\{[a-zA-Z]\w*\}/g, ''));
}
