import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from './service.js';

/** `roll`: one instance after the other is replaced, `restart`: all at once. */
export type Incident = 'roll' | 'kill' | 'freeze' | 'restart';

/** Each incident with its time, as a part of the run. */
export const SCHEDULE: readonly (readonly [number, Incident])[] = [
  [0.1, 'roll'],
  [0.28, 'kill'],
  [0.42, 'freeze'],
  [0.58, 'restart'],
  [0.74, 'roll'],
];
/** Between two instances of a rolling deploy, as a part of the run: 2 s of three minutes. */
const PAUSE_PART = 1 / 90;
/** Until a supervisor starts what was killed. */
const SUPERVISOR_MS = 2000;
/** Longer than `stalenessMs`: the others take it for dead meanwhile. */
const FREEZE_MS = 7000;
const FIRST = 0;
const SECOND = 1;

export async function play(incident: Incident, service: Service, endsMs: number): Promise<void> {
  if (incident === 'kill') {
    await service.kill(FIRST);
    await sleep(SUPERVISOR_MS);
    await service.start(FIRST);
  } else if (incident === 'freeze') {
    service.signal(SECOND, 'SIGSTOP');
    await sleep(FREEZE_MS);
    service.signal(SECOND, 'SIGCONT');
  } else if (incident === 'restart') {
    await Promise.all(service.places.map((place) => service.stop(place)));
    await Promise.all(service.places.map((place) => service.start(place)));
  } else {
    for (const place of service.places) {
      await service.stop(place);
      await service.start(place);
      await sleep(endsMs * PAUSE_PART);
    }
  }
}
