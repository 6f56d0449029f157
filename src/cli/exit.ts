import type { ErrorCode } from '../contract/core/index.ts';

/** Shown by `--help`; scripts rely on them. */
export const exitCodes = [
  [0, 'done'],
  [1, 'failed; the message says what and what to do'],
  [2, 'the command line, or a file it names, is wrong'],
  [3, 'the configuration is not valid, a plugin it names cannot be used, or this Node.js is too old'],
  [130, 'interrupted'],
] as const;

export function exitCodeOf(code: ErrorCode | 'usage'): number {
  if (code === 'usage' || code === 'invalid_argument') return 2;
  return code === 'config_invalid' || code === 'plugin_failed' ? 3 : 1;
}

/** Ends the process with this code; what there is to say has been said. */
export class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.name = 'Exit';
    this.code = code;
  }
}
