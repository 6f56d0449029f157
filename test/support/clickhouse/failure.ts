/** An exception as ClickHouse's HTTP interface tells it. */
export interface Failure {
  readonly code: number;
  /** `Code: 47. DB::Exception: … (UNKNOWN_IDENTIFIER) (version …)`. */
  readonly text: string;
}

const notFound = new Set([46, 47, 50, 60, 81, 115]);
const badRequest = new Set([6, 27, 36, 53, 62]);
const forbidden = new Set([192, 193, 516]);

export function statusOf(code: number): number {
  if (forbidden.has(code)) return 403;
  if (notFound.has(code)) return 404;
  if (badRequest.has(code)) return 400;
  return code === 159 ? 408 : 500;
}

export function failureOf(error: unknown, version: string): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const code = Number(/Code: (\d+)\./.exec(message)?.[1] ?? 1001);
  const text = /^Code: \d+\. DB::Exception/.test(message)
    ? message
    : `Code: ${code}. DB::Exception: ${message}. (STD_EXCEPTION)`;
  return { code, text: `${text} (version ${version} (official build))\n` };
}

/** What stands at the end of a result that failed after its beginning was sent: since 25.11, and before. */
export function trailer({ text }: Failure, tag: string | undefined): Buffer {
  if (tag === undefined) return Buffer.from(text);
  const message = Buffer.from(text);
  return Buffer.concat([
    Buffer.from(`\r\n__exception__\r\n${tag}\r\n`),
    message,
    Buffer.from(`${message.length} ${tag}\r\n__exception__\r\n`),
  ]);
}
