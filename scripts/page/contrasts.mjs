/** The contrast of every text that is seen with what lies behind it, as WCAG 2 computes it. */
export const CONTRASTS = `(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const over = (layers) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const layer of layers) { canvas.fillStyle = layer; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backgrounds = (element) => {
    const layers = [];
    for (let at = element; at !== null; at = at.parentElement) layers.unshift(getComputedStyle(at).backgroundColor);
    return layers;
  };
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const text = [...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data.trim()).join(' ').trim();
    if (text === '' || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (element.matches('script, style, option, :disabled, .waiting *, .skip, .out')) continue;
    const layers = ['white', ...backgrounds(element)];
    const lights = [light(over(layers)), light(over([...layers, getComputedStyle(element).color]))];
    found.push({ ratio: (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05), text: text.slice(0, 60) });
  }
  return found;
})()`;
