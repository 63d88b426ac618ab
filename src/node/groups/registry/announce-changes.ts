import type { Telemetry } from '../../../base/ports/telemetry.js';

/** Entry of the registry now in force here. */
export interface AppliedChange {
  readonly kind: 'group defined' | 'group deleted' | 'attachment changed' | 'key-template changed' | 'key changed';
  /** Name of the group or key, path of the scope, or pattern of the template. */
  readonly name: string;
  readonly revision: number;
}

/** Logs a line per change, or one for many at once, as from a script or the log at the start. */
export function announceChanges(telemetry: Telemetry, changes: readonly AppliedChange[]): void {
  if (changes.length <= LINES_MAX) {
    for (const { kind, name, revision } of changes) {
      telemetry.log('info', `${kind} at run time`, { [FACT[kind]]: name, revision });
    }
    return;
  }
  const names = changes.slice(0, LINES_MAX).map(({ name }) => name);
  telemetry.log('info', 'groups changed at run time', {
    count: changes.length,
    groups: `${names.join(', ')} and ${changes.length - names.length} more`,
    revision: changes.reduce((newest, { revision }) => Math.max(newest, revision), 0),
  });
}

const FACT = {
  'group defined': 'group',
  'group deleted': 'group',
  'attachment changed': 'scope',
  'key-template changed': 'template',
  'key changed': 'key',
} as const;

const LINES_MAX = 5;
