export function nodeBinary(major: string): string;
