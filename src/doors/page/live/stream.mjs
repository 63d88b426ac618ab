import { ask } from './ask.mjs';

/**
 * Reads the node's stream, and again a second after its end. An EventSource could not send a token.
 *
 * @param onEvent called with the name of an event and what it says
 * @param onState called with open, closed or refused, and the reason
 * @returns ends the listening
 */
export function listen(query, { onEvent, onState }) {
  const ending = new AbortController();
  const { signal } = ending;
  void (async () => {
    while (!signal.aborted) {
      try {
        const response = await ask(`/v1/live?${query}`, { signal, headers: { accept: 'text/event-stream' } });
        onState('open');
        const reason = await readEvents(response.body, onEvent);
        if (!signal.aborted) onState('closed', reason ?? 'the node has closed the stream');
      } catch (error) {
        if (signal.aborted) return;
        onState(error.status === undefined ? 'closed' : 'refused', error.message, error);
        if (error.status === 401 || error.status === 403 || error.status === 404) return;
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  })();
  return () => ending.abort();
}

const AGAIN_MS = 1000;

/** Returns the reason that the node gives for the end; null = it gave none. */
async function readEvents(body, onEvent) {
  const decoder = new TextDecoder();
  let rest = '';
  let reason = null;
  for await (const chunk of chunksOf(body)) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/s.exec(part) ?? [];
      if (event === 'ended') reason = JSON.parse(data).detail;
      else if (event !== undefined) onEvent(event, JSON.parse(data));
    }
  }
  return reason;
}

async function* chunksOf(body) {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
