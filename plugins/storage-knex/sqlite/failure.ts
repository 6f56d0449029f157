/** The `code` of a file that cannot be opened for several processes. */
export const noWriteAhead = 'SIGHTLINE_NO_WAL';

/** What an error of the driver or of the operating system is told by, also on another thread. */
export interface Failure {
  readonly message: string;
  readonly errcode?: number;
  readonly errstr?: string;
  readonly code?: string;
}

/** An error that crosses threads keeps its message alone. Told by its members, as in errors.ts. */
export function failureOf(error: unknown): Failure {
  if (typeof error !== 'object' || error === null || !('message' in error)) return { message: String(error) };
  return {
    message: String(error.message),
    ...('errcode' in error && typeof error.errcode === 'number' && { errcode: error.errcode }),
    ...('errstr' in error && typeof error.errstr === 'string' && { errstr: error.errstr }),
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
  };
}

export function errorOf(failure: Failure): Error {
  return Object.assign(new Error(failure.message), failure);
}
