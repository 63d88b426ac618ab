import { InvalidArgumentError } from 'commander';

/**
 * Makes a command's action that is loaded when it runs: --help and --version load no command's work. It gets the
 * arguments and options, without the command that commander passes last: an optional parameter would take it.
 */
export function lazily<Args extends unknown[]>(load: () => Promise<(...args: Args) => Promise<unknown>>) {
  return async (...args: [...Args, unknown]): Promise<void> => {
    await (await load())(...(args.slice(0, -1) as Args));
  };
}

/** Reads a whole number of an option. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/\d/.test(text) && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`A whole number from ${least} to ${most}.`);
  };
}
