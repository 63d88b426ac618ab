import { DURATION_MS, QUOTA, STORY } from './strategy-runs.mjs';

const WIDTH = 760;
const HEIGHT = 280;
const LEFT = 48;
const RIGHT = 40;
const TOP = 30;
const BOTTOM = 30;
/** Blue, vermilion, green of a palette that colour-blind people can tell apart; lines are labelled as well. */
const COLOURS = { a: '#0072b2', b: '#d55e00', c: '#009e73' };

/** Shares over time as an SVG: solid what a node may take, dashed what it wants (cut at the quota). */
export function renderPicture(title, { shares }) {
  const nodes = Object.keys(STORY);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" ` +
      'font-family="sans-serif" font-size="12" role="img">',
    `<title>${title}: shares of three nodes over time</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="18" font-size="13" font-weight="bold" fill="#222222">${title}</text>`,
    ...grid(),
    ...nodes.map((node) => `<path d="${stepsOf(demandSteps(node))}" ${stroke(node, '1" stroke-dasharray="3 4')}/>`),
    ...nodes.map((node) => `<path d="${stepsOf(shares[node])}" ${stroke(node, '2')}/>`),
    ...labels(nodes, shares),
    '</svg>',
    '',
  ].join('\n');
}

function grid() {
  const lines = [];
  for (let rate = 0; rate <= QUOTA; rate += 250) {
    lines.push(`<path d="M${LEFT} ${y(rate)}H${WIDTH - RIGHT}" stroke="#dddddd"/>`);
    lines.push(`<text x="${LEFT - 6}" y="${y(rate) + 4}" text-anchor="end" fill="#555555">${rate}</text>`);
  }
  for (let ms = 0; ms <= DURATION_MS; ms += 2000) {
    lines.push(`<text x="${x(ms)}" y="${HEIGHT - 10}" text-anchor="middle" fill="#555555">${ms / 1000} s</text>`);
  }
  return lines;
}

/** Names at the right end, moved apart where the ends meet. */
function labels(nodes, shares) {
  const ends = nodes.map((node) => ({ node, at: y(shares[node].at(-1)[1]) })).sort((one, other) => one.at - other.at);
  ends.forEach((end, index) => {
    if (index > 0) end.at = Math.max(end.at, ends[index - 1].at + 13);
  });
  return ends.map(({ node, at }) => {
    return `<text x="${WIDTH - RIGHT + 6}" y="${round(at + 4)}" fill="${COLOURS[node]}" font-weight="bold">${node}</text>`;
  });
}

function demandSteps(node) {
  return STORY[node].map(([fromMs, rate]) => [fromMs, rate]);
}

function stroke(node, width) {
  return `fill="none" stroke="${COLOURS[node]}" stroke-width="${width}"`;
}

/** A line that keeps each value until the next one. */
function stepsOf(steps) {
  const [[firstMs, first], ...others] = steps;
  const path = others.map(([ms, rate]) => `H${x(ms)}V${y(rate)}`).join('');
  return `M${x(firstMs)} ${y(first)}${path}H${x(DURATION_MS)}`;
}

function x(ms) {
  return round(LEFT + (ms / DURATION_MS) * (WIDTH - LEFT - RIGHT));
}

function y(rate) {
  const part = Math.min(1.02, rate / QUOTA);
  return round(HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM));
}

function round(value) {
  return Math.round(value * 10) / 10;
}
