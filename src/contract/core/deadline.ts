/** Why work ended that neither finished nor failed by itself. */
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
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
