/**
 * Words that a configuration shares with commands that ask a node. They stand apart from the settings, whose schemas
 * would double the time in which such a command starts.
 */

/** Begins the address of a Unix socket, in flags and log lines. */
export const UNIX = 'unix:';

/** Commands that call a node read their token from here; a node itself does without. */
export const TOKEN_VARIABLE = 'QUOTAMESH_TOKEN';
