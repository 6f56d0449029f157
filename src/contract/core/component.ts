/** Abort reason of work that was stopped from outside. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  readonly reason: 'timeout' | 'cancelled' | 'closing';

  constructor(reason: Stopped['reason']) {
    super(`stopped: ${reason}`);
    this.reason = reason;
  }
}

/** Rejects after `ms` with what `late` returns; the work itself goes on. */
export async function within<Answer>(
  ms: number,
  work: Promise<Answer>,
  late: () => Error = () => new Error(`no answer within ${ms} ms`),
): Promise<Answer> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), ms);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** By which a clock may be ahead and be believed. */
const mostAheadMs = 86_400_000;

/**
 * The time to delete by, in epoch milliseconds. A clock more than a day ahead of the time that is known otherwise, which is
 * -Infinity where none is, is doubted: a jump ahead must not delete what is not old.
 */
export function believedTime(clock: number, known: number): { readonly ms: number; readonly doubted: boolean } {
  const doubted = known !== -Infinity && clock > known + mostAheadMs;
  return { ms: doubted ? known : clock, doubted };
}

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}

export interface Health {
  readonly ok: boolean;
  /** It serves, but without something that the config asks for. */
  readonly degraded?: boolean;
  /** For an operator: what is wrong, without secrets. */
  readonly detail?: string;
}

/** Anything with a life. `stop` is safe without `start`, safe twice, and leaves nothing running. */
export interface Component {
  /** Opens connections; rejects when it cannot serve, which stops the boot. */
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  health(signal: AbortSignal): Promise<Health>;
}

/** What every plugin is given. */
export interface Host {
  readonly logger: Logger;
  readonly now: () => Date;
  /** {base_url}: no trailing slash. */
  readonly publicUrl: string;
  /** {auth_url}: no trailing slash. */
  readonly authUrl: string;
  /** Absolute; exists; mode 0700. A plugin keeps to a folder of its own in it. */
  readonly dataDirectory: string;
  /** Encrypts what is kept at rest; the context is bound in, so that one sealed value cannot be put in another's place. */
  readonly vault: Vault;
}

export interface Vault {
  seal(plain: Uint8Array, context: string): string;
  /** Throws when the value is damaged, of another context, or sealed with a key that is gone. */
  open(sealed: string, context: string): Uint8Array;
  /** 32 hex digits that only the master key and the context yield: the same each time, until the master key is replaced. */
  derive(context: string): string;
  /** A signature of the text that only the master key can make, and that names its key. */
  sign(text: string, context: string): string;
  /** Whether the signature is of this text and context, by any master key that is known. Never throws. */
  verifies(signature: string, text: string, context: string): boolean;
}
