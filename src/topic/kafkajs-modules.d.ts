/** Its types are of its public API alone; `kafka/kafkajs-internals.ts` says what is used below. */
declare module 'kafkajs/src/*' {
  const exported: unknown;
  export default exported;
}
