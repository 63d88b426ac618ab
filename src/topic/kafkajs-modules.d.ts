/** Modules of kafkajs below its public types; see `kafka/kafkajs-internals.ts`. */
declare module 'kafkajs/src/*' {
  const exported: unknown;
  export default exported;
}
