import { tick } from './figures.mjs';

/**
 * Draws a chart over time: values from 0 to `top`, or over `range`. `marks` are drawn as numbered lines; `timeText`
 * writes what the axis says. Hovering calls `onTime`, dragging calls `onZoom`; neither is called when the page itself
 * moves the cursor or the scale.
 */
export function timeChart(options) {
  const { host, label, height, columns, series, bands = [], marks = [], look } = options;
  const { timeText = (value) => `${value} s`, timeSpace = 50 } = options;
  const axis = axisOf(look);
  let range = options.range ?? [0, options.top];
  const plot = {
    width: Math.max(host.clientWidth, 120),
    height,
    padding: [14, 30, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
    focus: { alpha: 0.18 },
    scales: { x: { time: false }, y: { range: () => range } },
    axes: [
      { ...axis, size: 24, gap: 4, space: timeSpace, values: (_, values) => values.map(timeText) },
      { ...axis, size: 46, gap: 4, values: (_, values) => values.map(tick) },
    ],
    series: [{}, ...series.map((one) => ({ points: { show: false }, spanGaps: false, ...one }))],
    bands,
    hooks: hooksOf(options, marks),
  };
  const chart = new uPlot(plot, columns, host);
  chart.root.setAttribute('role', 'img');
  chart.root.setAttribute('aria-label', label);
  const observer = new ResizeObserver(() => {
    const width = Math.max(host.clientWidth, 120);
    if (width !== chart.width) chart.setSize({ width, height });
  });
  observer.observe(host);
  return {
    showTime: (seconds) => chart.setCursor({ left: chart.valToPos(seconds, 'x'), top: 0 }, false),
    zoom: (min, max) => {
      if (chart.scales.x.min !== min || chart.scales.x.max !== max) chart.setScale('x', { min, max });
    },
    /** Draws other columns, on a scale from `from` to `to`. */
    show: (later, from, to) => {
      range = [from, to];
      chart.setData(later);
    },
    focus: (at) => (at === null ? chart.setSeries(null, { focus: false }) : chart.setSeries(at, { focus: true })),
    end: () => {
      observer.disconnect();
      chart.destroy();
    },
  };
}

function hooksOf({ look, onTime, onZoom }, marks) {
  return {
    setCursor: [
      (chart) => chart.cursor.event && chart.cursor.left >= 0 && onTime(chart.posToVal(chart.cursor.left, 'x')),
    ],
    setScale: [(chart, key) => key === 'x' && onZoom(chart.scales.x.min, chart.scales.x.max)],
    draw: [(chart) => drawMarks(chart, marks, look)],
  };
}

function axisOf(look) {
  const grid = { stroke: look.colour('grid'), width: 1 };
  return { stroke: look.colour('muted'), font: look.font, grid, ticks: { show: false } };
}

/** Draws numbered lines. Of lines that stand closer than a number is wide, only the first gets its number. */
function drawMarks(chart, marks, look) {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = look.colour('mark');
  ctx.fillStyle = look.colour('mark');
  ctx.lineWidth = ratio;
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  ctx.font = `${10 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = 'center';
  let free = -Infinity;
  marks.forEach(({ atMs }, index) => {
    const x = Math.round(chart.valToPos(atMs / 1000, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (x < free) return;
    ctx.fillText(String(index + 1), x, bbox.top - 3 * ratio);
    free = x + 14 * ratio;
  });
  ctx.restore();
}
