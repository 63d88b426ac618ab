/** Makes an action that is loaded when it runs: --help and --version load no command's work. */
export function lazily<Args extends unknown[]>(load: () => Promise<(...args: Args) => Promise<unknown>>) {
  return async (...args: Args): Promise<void> => {
    await (await load())(...args);
  };
}
