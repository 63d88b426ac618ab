import { say } from '../browser/elements.mjs';
import { ask } from './ask.mjs';

/**
 * Makes a button that records the report topic until the next click. The node sends the recording as it comes and keeps
 * nothing of it, so the browser has it until it is over.
 *
 * @param seconds the field that says how long
 * @param left where the seconds that are left are told
 * @param onFailed called with why nothing was recorded
 */
export function recorder({ button, seconds, left, onFailed }) {
  let stop = null;
  button.addEventListener('click', () => {
    if (stop === null) void record();
    else stop();
  });

  async function record() {
    const endsAtMs = performance.now() + 1000 * Number(seconds.value);
    const asked = new AbortController();
    stop = () => asked.abort();
    seconds.disabled = true;
    say(button, 'Stop and keep');
    const tellLeft = () => say(left, `${Math.max(0, Math.ceil((endsAtMs - performance.now()) / 1000))} s left`);
    tellLeft();
    const timer = setInterval(tellLeft, 1000);
    try {
      const response = await ask(`/v1/live/recording?seconds=${seconds.value}`, { signal: asked.signal });
      const reader = response.body.getReader();
      stop = () => reader.cancel();
      save(await allOf(reader), nameOf(response));
    } catch (error) {
      if (!asked.signal.aborted) onFailed(error);
    }
    clearInterval(timer);
    stop = null;
    seconds.disabled = false;
    say(left, '');
    say(button, 'Record this');
  }
}

async function allOf(reader) {
  const chunks = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return chunks;
    chunks.push(value);
  }
}

function nameOf(response) {
  const [, name] = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? [];
  return name ?? 'live.qmrec';
}

function save(chunks, name) {
  const url = URL.createObjectURL(new Blob(chunks));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
