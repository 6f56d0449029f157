/** Who did something that is kept. */
export interface Actor {
  readonly kind: 'user' | 'key' | 'agent' | 'alert' | 'operator';
  /** `usr_…`, `ak_…`, the agent's engine, the alert source or the operating system's user. */
  readonly id: string;
  readonly name: string;
}

/** One page of a list, and what to ask for the next. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string;
}
