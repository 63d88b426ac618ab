/** The parts of PIP-322 for a broker of your own: `quotamesh/limiter`. They are pure; every call is given the time. */
export { BYTES, MESSAGES } from './core/base/vocabulary.js';
export { Buckets } from './core/limiter/buckets.js';
export { Producer, PublishThrottle, type PublishThrottleOptions } from './core/limiter/publish-throttle.js';
export {
  THROTTLE_REASONS,
  type ThrottleReason,
  ThrottleTracker,
  type TrackerResult,
} from './core/limiter/throttle-tracker.js';
export { WakeOwner, WakeQueue } from './core/limiter/wake-queue.js';
