/**
 * Writes a name as one segment of a path. Clients and proxies take `.` and `..` for steps, also as %2E, so these are
 * encoded twice, and what would be read as one of them, too.
 *
 * Worked: `a/b` → `a%2Fb`. `..` → `%252E%252E`. `%2e` → `%25252e`.
 */
export function segmentOf(name: string): string {
  const encoded = encodeURIComponent(name);
  return STEPS.test(name) ? encodeURIComponent(encoded.replaceAll('.', '%2E')) : encoded;
}

/** Reads a name from a segment that was decoded once. */
export function nameOfSegment(segment: string): string {
  return ENCODED_STEPS.test(segment) ? decodeURIComponent(segment) : segment;
}

const STEPS = /^(?:\.|%(?:25)*2e){1,2}$/i;
const ENCODED_STEPS = /^(?:%(?:25)*2e){1,2}$/i;
