/**
 * Makes a command's action that is loaded when it runs: --help and --version load no command's work. It gets the
 * arguments and options, without the command that commander passes last: an optional parameter would take it.
 */
export function lazily<Args extends unknown[]>(load: () => Promise<(...args: Args) => Promise<unknown>>) {
  return async (...args: [...Args, unknown]): Promise<void> => {
    await (await load())(...(args.slice(0, -1) as Args));
  };
}
