import { type Html, html } from '../../src/doors/page/html.js';

export interface PageFrontier {
  readonly of: string;
  /** By rising depth. */
  readonly points: readonly {
    readonly depth: number;
    readonly perSecond: number;
    readonly refused: number;
    readonly mostPerSecond: number;
  }[];
  /** Depth of the recommended point. */
  readonly bestDepth: number;
}

const WIDTH = 720;
const HEIGHT = 300;
const LEFT = 76;
const RIGHT = 24;
const TOP = 18;
const BOTTOM = 46;

/** Draws the least quota per burst: left and low protects most. */
export function frontierSection({ of, points, bestDepth }: PageFrontier): Html {
  const most = Math.max(...points.map(({ perSecond }) => perSecond)) * 1.12;
  const [least, deepest] = [points[0]?.depth ?? 1, points.at(-1)?.depth ?? 1];
  const span = Math.log(deepest / least) || 1;
  // One point stands in the middle.
  const x = (depth: number) =>
    LEFT + (points.length === 1 ? 0.5 : Math.log(depth / least) / span) * (WIDTH - LEFT - RIGHT);
  const y = (perSecond: number) => HEIGHT - BOTTOM - (perSecond / most) * (HEIGHT - TOP - BOTTOM);
  const places = points.map(({ depth, perSecond }) => [x(depth).toFixed(1), y(perSecond).toFixed(1)] as const);
  const lines = [0, 1 / 3, 2 / 3, 1].map((part) => {
    const perSecond = part * (most / 1.12);
    return html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(perSecond).toFixed(1)}" y2="${y(perSecond).toFixed(1)}"/><text x="${LEFT - 8}" y="${(y(perSecond) + 4).toFixed(1)}" text-anchor="end">${figure(perSecond)}</text>`;
  });
  const marks = points.map((point, at) => {
    const isBest = point.depth === bestDepth;
    const [left, top] = places[at];
    return html`<circle class="${isBest ? 'best' : 'point'}" cx="${left}" cy="${top}" r="${isBest ? 7 : 4.5}"><title>burst ${figure(point.depth)}: ${figure(point.perSecond)} ${of}/s</title></circle><text x="${left}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${figure(point.depth)}</text>`;
  });
  const rows = points.map(({ depth, perSecond, refused, mostPerSecond }) => {
    const cells = [figure(perSecond), `${(100 * refused).toFixed(1)} %`, figure(mostPerSecond)];
    const body = cells.map((cell) =>
      depth === bestDepth ? html`<td class="best">${cell}</td>` : html`<td>${cell}</td>`,
    );
    return html`<tr><th scope="row">${figure(depth)}</th>${body}</tr>
`;
  });
  return html`<section aria-labelledby="frontier-title">
<h2 id="frontier-title">Burst × quota</h2>
<div class="frontier">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="The least quota that keeps the wish, for every burst">
${lines}
<polyline points="${places.map((place) => place.join()).join(' ')}"/>
${marks}
<text x="${LEFT}" y="${TOP - 6}">${of}/s, the quota</text>
<text x="${WIDTH - RIGHT}" y="${HEIGHT - 8}" text-anchor="end">burst, ${of}</text>
</svg>
<div class="scroll" tabindex="0" role="region" aria-label="Points of the frontier">
<table class="verdict"><thead><tr><th scope="col">Burst</th><th scope="col">${of}/s</th><th scope="col">Refused</th><th scope="col">A second at most</th></tr></thead>
<tbody>${rows}</tbody></table></div>
</div>
</section>`;
}

/** Formats three digits, or whole from 100 on. */
function figure(value: number): string {
  if (value < 100) return String(Number(value.toPrecision(3)));
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}
