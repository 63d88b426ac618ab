const WIDTH = 760;
const HEIGHT = 400;
const LEFT = 110;
const RIGHT = 40;
const ROW = { first: 74, step: 34, height: 22 };
const CHART = { top: 240, bottom: 370 };
/** A part of the quota, or of the burst: what is wanted beyond it ends at the edge. */
const SCALE_MAX = 1.2;
/** Values nearer than this to the line between their neighbours need no key frame. */
const FLAT = 0.004;
/** Colours that colour-blind people can tell apart; bars and lines are labelled as well. */
const COLOURS = { a: '#0072b2', b: '#d55e00', c: '#009e73' };
const DARK = '#222222';

/**
 * A run as an SVG that moves by itself, without a script: bars for what each node admits, an outline for what it may
 * take, a tick for what it is asked for, and below them the whole run with a line that passes through it.
 */
export function renderAnimation(story, frames) {
  const bursts = story.bursts !== undefined;
  const full = bursts ? story.burst : story.quota;
  const rows = rowsOf(frames, bursts);
  const styles = [...rows.flatMap((row, at) => rowStyles(row, at, full)), ...captionStyles(story)];
  const seconds = story.lengthMs / 1000;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" ` +
      'font-family="sans-serif" font-size="12" role="img">',
    `<title>${story.title}</title>`,
    `<desc>${story.says.map(([atMs, text]) => `At ${atMs / 1000} s: ${text}.`).join(' ')}</desc>`,
    '<style>',
    `.m{animation-duration:${seconds}s;animation-timing-function:linear;animation-iteration-count:infinite}`,
    '.s{animation-timing-function:step-end}',
    `@media (prefers-reduced-motion:reduce){.m{animation-play-state:paused;animation-delay:-${story.stillMs / 1000}s}}`,
    `@keyframes head{to{transform:translateX(${WIDTH - RIGHT - LEFT}px)}}`,
    ...styles,
    '</style>',
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="16" y="22" font-size="14" font-weight="bold" fill="${DARK}">${story.title}</text>`,
    ...story.says.map(
      ([, text], at) =>
        `<text class="m s" style="animation-name:t${at}" opacity="0" x="16" y="46" font-size="14" fill="${DARK}">${text}</text>`,
    ),
    ...rows.flatMap((row, at) => rowShapes(row, at, story)),
    ...fullLine(full, bursts),
    ...chart(rows, story, full),
    `<path class="m" style="animation-name:head" d="M${LEFT} ${CHART.top - 6}V${CHART.bottom}" stroke="${DARK}" stroke-width="1.5"/>`,
    '</svg>',
    '',
  ].join('\n');
}

/** Three nodes, and what they come to together: their sum, or what is left in the bucket. */
function rowsOf(frames, bursts) {
  const nodes = frames[0].nodes.map(({ node }, at) => ({
    label: `node ${node}`,
    colour: COLOURS[node],
    bar: frames.map(({ nodes: all }) => all[at].admitted),
    outline: bursts ? null : frames.map(({ nodes: all }) => all[at].share),
    tick: frames.map(({ nodes: all }) => all[at].wanted),
  }));
  const sum = (frame) => frame.nodes.reduce((all, { admitted }) => all + admitted, 0);
  const together = frames.map((frame) => (bursts ? frame.tokens : sum(frame)));
  return [
    ...nodes,
    { label: bursts ? 'in the bucket' : 'all together', colour: DARK, bar: together, outline: null, tick: null },
  ];
}

function rowStyles({ bar, outline, tick }, at, full) {
  const named = { b: bar, o: outline, k: tick };
  return Object.entries(named).flatMap(([letter, values]) => {
    if (values === null) return [];
    const parts = values.map((value) => Math.min(1, value / (full * SCALE_MAX)));
    const css = letter === 'k' ? (part) => `translateX(${round(part * span())}px)` : (part) => `scaleX(${part})`;
    return [keyframes(`${letter}${at}`, parts, css)];
  });
}

function keyframes(name, parts, css) {
  const last = parts.length - 1;
  const rounded = parts.map((part) => Math.round(part * 1000) / 1000);
  const kept = rounded.flatMap((part, at) => {
    const isFlat =
      at > 0 && at < last && Math.abs(part - rounded[at - 1]) < FLAT && Math.abs(part - rounded[at + 1]) < FLAT;
    return isFlat ? [] : [`${round((at / last) * 100)}%{transform:${css(part)}}`];
  });
  return `@keyframes ${name}{${kept.join('')}}`;
}

function captionStyles({ says, lengthMs }) {
  return says.map(([fromMs], at) => {
    const untilMs = says[at + 1]?.[0] ?? lengthMs;
    const percent = (ms) => round((ms / lengthMs) * 100);
    const before = fromMs > 0 ? '0%{opacity:0}' : '';
    return `@keyframes t${at}{${before}${percent(fromMs)}%{opacity:1}${percent(untilMs)}%,100%{opacity:0}}`;
  });
}

function rowShapes({ label, colour, outline, tick }, at) {
  const y = ROW.first + at * ROW.step;
  const area = `x="${LEFT}" y="${y}" width="${span()}" height="${ROW.height}"`;
  const moves = (name) => `class="m" style="animation-name:${name}${at};transform-origin:${LEFT}px 0"`;
  return [
    `<text x="${LEFT - 8}" y="${y + 15}" text-anchor="end" font-weight="bold" fill="${colour}">${label}</text>`,
    `<rect ${area} fill="#f4f4f4"/>`,
    ...(outline === null ? [] : [`<rect ${moves('o')} ${area} fill="${colour}" opacity="0.25"/>`]),
    `<rect ${moves('b')} ${area} fill="${colour}" transform="scale(0 1)"/>`,
    ...(tick === null
      ? []
      : [`<path ${moves('k')} d="M${LEFT} ${y - 3}V${y + ROW.height + 3}" stroke="${DARK}" stroke-width="2"/>`]),
  ];
}

function fullLine(full, bursts) {
  const x = round(LEFT + span() / SCALE_MAX);
  const bottom = ROW.first + 4 * ROW.step - 6;
  return [
    `<path d="M${x} ${ROW.first - 6}V${bottom}" stroke="#888888" stroke-dasharray="4 3"/>`,
    `<text x="${x}" y="${bottom + 12}" text-anchor="middle" fill="#555555">${bursts ? 'burst' : 'quota'} ${full}</text>`,
  ];
}

/** Lines of what was admitted, or of what the bucket held. */
function chart(rows, { lengthMs, bursts }, full) {
  const y = (value) =>
    round(CHART.bottom - Math.min(SCALE_MAX, value / full) * ((CHART.bottom - CHART.top) / SCALE_MAX));
  const times = Array.from({ length: Math.floor(lengthMs / 2000) + 1 }, (_, at) => at * 2000);
  const x = (ms) => round(LEFT + (ms / lengthMs) * span());
  const line = ({ bar, colour }) => {
    const points = bar.map((value, at) => `${x((at / (bar.length - 1)) * lengthMs)} ${y(value)}`);
    return `<path d="M${points.join('L')}" fill="none" stroke="${colour}" stroke-width="1.5"/>`;
  };
  return [
    ...[0, full].map((value) => `<path d="M${LEFT} ${y(value)}H${WIDTH - RIGHT}" stroke="#dddddd"/>`),
    ...[0, full].map((value) => {
      return `<text x="${LEFT - 8}" y="${y(value) + 4}" text-anchor="end" fill="#555555">${value}</text>`;
    }),
    `<text x="${LEFT - 8}" y="${y(full / 2) + 4}" text-anchor="end" fill="#555555">${bursts ? 'pieces' : 'per second'}</text>`,
    ...times.map(
      (ms) => `<text x="${x(ms)}" y="${HEIGHT - 12}" text-anchor="middle" fill="#555555">${ms / 1000} s</text>`,
    ),
    ...rows.map(line),
  ];
}

function span() {
  return WIDTH - RIGHT - LEFT;
}

function round(value) {
  return Math.round(value * 100) / 100;
}
