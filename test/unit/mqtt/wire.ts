import { generate, type IConnectPacket } from 'mqtt-packet';

/** Packets as clients send them, made by the library that mqtt.js and aedes use. */
export function publishPacket(topic: string, payload: Buffer, qos: number): Buffer {
  return generate({ cmd: 'publish', topic, payload, qos: qos as 0 | 1 | 2, messageId: 7, dup: false, retain: false });
}

export function connectPacket(
  clientId: string,
  keepalive = 0,
  clean = true,
  password?: string,
  willTopic?: string,
): Buffer {
  const login = password === undefined ? {} : { username: 'any', password: Buffer.from(password) };
  const last =
    willTopic === undefined ? {} : { will: { topic: willTopic, payload: Buffer.from('x'), qos: 0, retain: false } };
  const fixed = { protocolId: 'MQTT', protocolVersion: 4 } as const;
  return generate({ cmd: 'connect', clientId, ...fixed, clean, keepalive, ...login, ...last } as IConnectPacket);
}

export function subscribePacket(topic: string, qos: 0 | 1 | 2): Buffer {
  return subscribesPacket([{ topic, qos }]);
}

export function subscribesPacket(subscriptions: { topic: string; qos: 0 | 1 | 2 }[]): Buffer {
  return generate({ cmd: 'subscribe', messageId: 1, subscriptions });
}

export function filtersPacket(count: number, cmd: 'subscribe' | 'unsubscribe' = 'subscribe'): Buffer {
  const topics = Array.from({ length: count }, (_, at) => `a/${at}`);
  if (cmd === 'unsubscribe') return generate({ cmd, messageId: 1, unsubscriptions: topics });
  return generate({ cmd, messageId: 1, subscriptions: topics.map((topic) => ({ topic, qos: 0 })) });
}
