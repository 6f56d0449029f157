import type { Stage } from '../stage.ts';

/** A client of the zoo: how it is installed, configured and driven. */
export interface Kind {
  readonly name: string;
  readonly title: string;
  /** Pinned, the client's own first. */
  readonly packages: readonly string[];
  /** Connects with a key's token, does the course, and tells what the model saw. */
  readonly bearer: (stage: Stage) => Promise<Saw>;
  /** The same by OAuth in a browser; or why it is not tried. */
  readonly oauth: ((stage: Stage) => Promise<Saw>) | string;
  /** What a person who uses it had better know. */
  readonly limits: string;
}

/** What reached the model, or who looks at a client that has none: everything, and of it the results of tools. */
export interface Saw {
  readonly texts: readonly string[];
  readonly results: readonly string[];
}

export function versionOf({ packages: [first = ''] }: Kind): string {
  return first.slice(first.lastIndexOf('@') + 1);
}
