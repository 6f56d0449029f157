import type { Session } from './session.ts';

/** Idle sessions in the order of their return. Each is reused or closed after a while. */
export class Resting {
  readonly #idleMs: number;
  readonly #close: (session: Session) => void;
  readonly #sessions: Session[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param idleMs so long one may rest before it is closed. */
  constructor(idleMs: number, close: (session: Session) => void) {
    this.#idleMs = idleMs;
    this.#close = close;
  }

  add(session: Session): void {
    session.restsSince = performance.now();
    this.#sessions.push(session);
    this.#timer ??= setTimeout(() => this.#sweep(), this.#idleMs);
  }

  /** One that may be used as it is: the tenant's own, the last that came back, else one that was nobody's. */
  takeFor(tenant: string | undefined): Session | undefined {
    let at = this.#sessions.findLastIndex((session) => session.tenant === tenant);
    if (at === -1 && tenant !== undefined) at = this.#sessions.findLastIndex((session) => session.tenant === undefined);
    return at === -1 ? undefined : this.#sessions.splice(at, 1)[0];
  }

  takeOldest(): Session | undefined {
    return this.#sessions.shift();
  }

  remove(session: Session): boolean {
    const at = this.#sessions.indexOf(session);
    if (at !== -1) this.#sessions.splice(at, 1);
    return at !== -1;
  }

  closeAll(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const session of this.#sessions.splice(0)) this.#close(session);
  }

  #sweep(): void {
    this.#timer = undefined;
    const now = performance.now();
    while (this.#sessions[0] !== undefined && now - this.#sessions[0].restsSince >= this.#idleMs - 1) {
      const session = this.#sessions.shift();
      if (session !== undefined) this.#close(session);
    }
    const [next] = this.#sessions;
    if (next !== undefined) this.#timer = setTimeout(() => this.#sweep(), next.restsSince + this.#idleMs - now);
  }
}
