/** What the engine says went wrong, in place of a result or in the middle of one. Its message can hold rows' values. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  /** ClickHouse's own, see system.errors. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Undefined for what is no engine's word: a proxy's, or half of an answer. */
export function engineError(text: string): EngineError | undefined {
  // The first is the engine's own; what follows may quote anything.
  const [, code, message] = /Code: (\d+)\. [\w:]*Exception: ([^]*)/.exec(text) ?? [];
  return code === undefined ? undefined : new EngineError(Number(code), message ?? '');
}
