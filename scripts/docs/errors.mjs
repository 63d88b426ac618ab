import { GENERATED, table } from './markdown.mjs';

/** docs/reference/errors.md from the catalogue (src/base/errors/catalogue.ts). */
export function renderErrors(catalogue) {
  const rows = Object.entries(catalogue).map(([code, { message, httpStatus, exitCode, remedy }]) => [
    `\`${code}\``,
    // A row of a table is one line.
    `\`${message.replaceAll('\n', ' ⏎ ')}\``,
    [httpStatus ?? '', exitCode ?? ''].join('/').replace(/^\/$/, ''),
    remedy,
  ]);
  return `${GENERATED}

# Errors

Every operating error has a code. Over HTTP it is the \`code\` of the problem document (RFC 9457); on the command line
it decides the exit code; a library user finds it in \`error.code\` of a \`QuotameshError\`. \`{…}\` stands for a fact
of the case, also in \`error.facts\`. A code, once released, keeps its meaning and is never used for something else.
*HTTP/exit*: the HTTP status and the exit code.

${table(['Code', 'Message', 'HTTP/exit', 'What to do'], rows)}

Exit codes: 0 all is well · 1 unexpected error · 2 wrong use of the command line · 69 something needed is not
available · 78 wrong configuration.

A broken invariant (\`invariant broken: …\`) is none of these: it is a defect of quotamesh, and the process ends
rather than go on with a wrong share.
`;
}
