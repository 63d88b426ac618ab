/**
 * Whether a topic matches a subscription's filter (MQTT 3.1.1, 4.7): `+` is one segment (MQTT says level), `#` at the
 * end the rest and the segment before it. Topics that begin with $ match no filter that begins with a wildcard.
 */
export function matchesFilter(filter: string, topic: string): boolean {
  if (topic.startsWith('$') && !filter.startsWith('$')) return false;
  const wanted = filter.split('/');
  const segments = topic.split('/');
  for (let at = 0; at < wanted.length; at++) {
    if (wanted[at] === '#') return true;
    if (at >= segments.length || (wanted[at] !== '+' && wanted[at] !== segments[at])) return false;
  }
  return wanted.length === segments.length;
}
