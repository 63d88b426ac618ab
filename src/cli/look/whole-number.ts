import { InvalidArgumentError } from 'commander';

/** Reads a number of an option. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number between ${min} and ${max}.`);
  };
}
