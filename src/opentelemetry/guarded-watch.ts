import type { AdmissionWatch } from '../admission/request/admission-watch.js';
import { callEmbedder, warnEmbedder } from '../node/call-embedder.js';

/** What a processor or exporter of the SDK throws must not end the decision that it was told of. Warns once. */
export function guardedWatch(watch: AdmissionWatch): AdmissionWatch {
  let hasWarned = false;
  const failed = (reason: string) => {
    if (!hasWarned) warnEmbedder('CALLBACK_FAILED', { callback: 'the OpenTelemetry SDK', reason });
    hasWarned = true;
  };
  return {
    refused: (request, decision) => callEmbedder(() => watch.refused(request, decision), failed),
    waits: (request) => {
      let end: ReturnType<AdmissionWatch['waits']> = () => undefined;
      callEmbedder(() => {
        end = watch.waits(request);
      }, failed);
      return (decision) => callEmbedder(() => end(decision), failed);
    },
  };
}
