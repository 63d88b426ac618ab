const WIDTH = 760;
const HEIGHT = 260;
const LEFT = 48;
const RIGHT = 100;
const TOP = 30;
const BOTTOM = 30;
const QUOTA = 900;
const RATE_MAX = 1500;
/** Colours that colour-blind people can tell apart; the lines are labelled as well. */
const COLOURS = { open: '#d55e00', 'equal-share': '#0072b2', floor: '#009e73', closed: '#222222' };

/** What a cluster of three admits while the topic is away for 40 s, by policy: docs/pictures/topic-away.svg. */
export function renderTopicAway({ playTopicAway, AWAY, resolveConfig }) {
  const quota = { publish: { messagesPerSecond: QUOTA } };
  const raw = { cluster: 'docs', node: 'a', topic: 'memory', groups: { orders: { quota } } };
  const { cluster, timing, sampleIntervalMs, limiting, costs, groups } = resolveConfig(raw, { source: 'docs' });
  const settings = { ...timing, cluster, version: 'docs', partitions: 1, sampleIntervalMs, limiting, costs, groups };
  const x = (ms) => round(LEFT + (ms / AWAY.endMs) * (WIDTH - LEFT - RIGHT));
  const lines = Object.keys(COLOURS).map((policy) => {
    const { perSecond } = playTopicAway(settings, { policy, holdMs: 10_000 }, 'everybody');
    const path = perSecond.map((rate, second) => `${second === 0 ? 'M' : 'L'}${x(second * 1000 + 500)} ${y(rate)}`);
    const atEnd = y(perSecond[AWAY.toMs / 1000 - 2]) + (policy === 'closed' ? 5 : policy === 'floor' ? -7 : 4);
    return [
      `<path d="${path.join('')}" fill="none" stroke="${COLOURS[policy]}" stroke-width="2"/>`,
      `<text x="${WIDTH - RIGHT + 6}" y="${round(atEnd)}" fill="${COLOURS[policy]}" font-weight="bold">${policy}</text>`,
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" ` +
      'font-family="sans-serif" font-size="12" role="img">',
    '<title>messages per second that a cluster admits while the topic is away, by policy</title>',
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<rect x="${x(AWAY.fromMs)}" y="${TOP}" width="${x(AWAY.toMs) - x(AWAY.fromMs)}" height="${HEIGHT - TOP - BOTTOM}" fill="#f2f2f2"/>`,
    `<text x="${x(AWAY.fromMs) + 6}" y="${TOP + 14}" fill="#555555">the topic is away</text>`,
    `<text x="${LEFT}" y="18" font-size="13" font-weight="bold" fill="#222222">messages/s admitted, quota ${QUOTA}</text>`,
    ...grid(x, AWAY.endMs),
    ...lines.flat(),
    '</svg>',
    '',
  ].join('\n');
}

function grid(x, endMs) {
  const lines = [];
  for (let rate = 0; rate <= RATE_MAX; rate += 300) {
    lines.push(`<path d="M${LEFT} ${y(rate)}H${WIDTH - RIGHT}" stroke="${rate === QUOTA ? '#888888' : '#dddddd'}"/>`);
    lines.push(`<text x="${LEFT - 6}" y="${y(rate) + 4}" text-anchor="end" fill="#555555">${rate}</text>`);
  }
  for (let ms = 0; ms <= endMs; ms += 10_000) {
    lines.push(`<text x="${x(ms)}" y="${HEIGHT - 10}" text-anchor="middle" fill="#555555">${ms / 1000} s</text>`);
  }
  return lines;
}

function y(rate) {
  return round(HEIGHT - BOTTOM - (rate / RATE_MAX) * (HEIGHT - TOP - BOTTOM));
}

function round(value) {
  return Math.round(value * 10) / 10;
}
