import type { OldName } from '../config/setting/findings.js';

/** Tells whoever uses a former name what it is called now. */
export function oldNameLine({ where, old, now }: OldName): string {
  return `${where}: note: ${old} is now called ${now}; the old name keeps working`;
}
