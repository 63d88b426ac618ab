import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { showSent } from '../../base/input/input-mistakes.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { GROUP_NAME } from '../../config/setting/setting.js';
import type { CoordinatorEvent } from '../../core/base/protocol/events-and-effects.js';
import type { BackendHealth } from '../../core/base/protocol/record.js';
import type { CoordinatorView } from '../../core/machine/coordinator-view.js';
import { isSaneHealth } from '../../core/target/throttling-ratio.js';
import type { ReportedHealth } from '../api/quota-node.js';

interface BackendParts {
  readonly config: Pick<ResolvedConfig, 'limiting'>;
  readonly loop: CoordinatorView & { step(event: CoordinatorEvent): void };
  /** NOT_READY with the present reasons. */
  readonly notReady: () => QuotameshError;
}

/**
 * Rejects a broken sensor's values by name: NaN, nothing, a negative queue. The last good health then holds for
 * limiting.healthValidMs.
 */
export function reportBackend(parts: BackendParts, backend: string, given: ReportedHealth): void {
  const health = healthOf(backend, given);
  const { zone = backend } = given;
  if (!isName(zone)) invalid(backend, 'zone', `must be ${GROUP_NAME.text}`);
  const { config, loop } = parts;
  const { coordinator } = loop;
  if (coordinator === null || !loop.isReady) throw parts.notReady();
  if (!coordinator.targets.backends.hasRoomFor(backend)) {
    throw new QuotameshError('BACKENDS_FULL', { backend, max: config.limiting.maxBackends });
  }
  loop.step({ kind: 'backend-reported', backend, zone, health });
}

const FIELDS: readonly string[] = ['zone', 'level', 'target', 'spring', 'throttlingRatio'];
/** Health that never limits, whatever the target: z = 0. */
const WELL: BackendHealth = { kind: 'level', level: 0, target: 1, spring: 1 };

function healthOf(backend: string, given: ReportedHealth): BackendHealth {
  if (!isName(backend)) invalid(showSent(backend), 'its name', `must be ${GROUP_NAME.text}`);
  if (typeof given !== 'object' || given === null) invalid(backend, 'its health', 'must be an object');
  const unknown = Object.keys(given).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) invalid(backend, unknown.slice(0, 80), `is not known; known are ${FIELDS.join(', ')}`);
  const { level, target, spring, throttlingRatio } = given;
  if (throttlingRatio === undefined) return levelOf(backend, given);
  if (level !== undefined || target !== undefined || spring !== undefined) {
    invalid(backend, 'throttlingRatio', 'excludes level, target and spring: send one or the other');
  }
  if (throttlingRatio === null) return WELL;
  const health = { kind: 'ratio', ratio: throttlingRatio } as const;
  if (isSaneHealth(health)) return health;
  return invalid(backend, 'throttlingRatio', `must be a number from 0 to 2, or null, got ${showSent(throttlingRatio)}`);
}

function levelOf(backend: string, given: ReportedHealth): BackendHealth {
  const { level = Number.NaN, target = Number.NaN, spring = Number.NaN } = given;
  const health = { kind: 'level', level, target, spring } as const;
  if (isSaneHealth(health)) return health;
  const wrong = !(Number.isFinite(level) && level >= 0)
    ? 'level'
    : !(Number.isFinite(target) && target > 0)
      ? 'target'
      : 'spring';
  const bound = wrong === 'level' ? '≥ 0' : '> 0';
  return invalid(backend, wrong, `must be a finite number ${bound}, got ${showSent(given[wrong])}`);
}

function isName(name: unknown): name is string {
  return typeof name === 'string' && GROUP_NAME.matches.test(name);
}

function invalid(backend: string, field: string, reason: string): never {
  throw new QuotameshError('BACKEND_INVALID', { backend, field, reason });
}
