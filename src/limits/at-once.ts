import { keyOf, type Caller } from './rate-limit.ts';
import type { ServerResponse } from 'node:http';
import { SightlineError, type OrganizationId } from '../contract/core/index.ts';

/** Numbers by name, and their sum. A name whose number is 0 again is forgotten. */
export class Counts {
  readonly #of = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(name: string): number {
    return this.#of.get(name) ?? 0;
  }

  add(name: string, by: number): void {
    const count = this.of(name) + by;
    if (count < 0) throw new Error(`'${name}' was left, and nobody entered`);
    this.#total += by;
    if (count === 0) this.#of.delete(name);
    else this.#of.set(name, count);
  }
}

interface AtOnceLimits {
  /** Of one caller. */
  readonly caller: number;
  readonly organization: number;
  readonly total: number;
}

/**
 * Requests under way, or the bytes of them, of callers that are not authenticated yet. Bounded by caller, so that a stranger who sends slowly does
 * not keep out the sender, and by organization, so that one does not keep out the others.
 */
export class AtOnce {
  readonly #limits: AtOnceLimits;
  readonly #callers = new Counts();
  readonly #organizations = new Counts();

  constructor(limits: AtOnceLimits) {
    this.#limits = limits;
  }

  /** Gives what ends the stay; undefined where there is no room for so much. */
  enter(organization: string, caller: string, weight = 1): (() => void) | undefined {
    const [callers, organizations] = [this.#callers, this.#organizations];
    const { caller: ofCaller, organization: ofOrganization, total } = this.#limits;
    if (callers.of(caller) + weight > ofCaller || callers.total + weight > total) return undefined;
    if (organizations.of(organization) + weight > ofOrganization) return undefined;
    callers.add(caller, weight);
    organizations.add(organization, weight);
    return () => {
      callers.add(caller, -weight);
      organizations.add(organization, -weight);
    };
  }
}

interface CallLimits {
  /** Of one principal. */
  readonly each: number;
  /** Of a tool, by all of an organization; without an entry there is no limit. */
  readonly tools: Readonly<Record<string, number>>;
}

/** Tool calls in progress. Each admitted call leaves once, with the same arguments. */
export interface CallsAtOnce {
  /** False where as many are under way as may be. */
  enter(caller: Caller, tool: string): boolean;
  leave(caller: Caller, tool: string): void;
}

/**
 * Calls at once by principal, and by organization and tool: what a rate a minute does not bound is how many slow calls stand
 * beside each other.
 */
export function limitCallsAtOnce({ each, tools }: CallLimits): CallsAtOnce {
  const principals = new Counts();
  const limited = new Map(Object.entries(tools).map(([tool, most]) => [tool, { most, organizations: new Counts() }]));
  // A principal is the same object with each request while its token says the same.
  const keys = new WeakMap<Caller, string>();
  const keyFor = (caller: Caller): string => {
    let key = keys.get(caller);
    if (key === undefined) keys.set(caller, (key = keyOf(caller)));
    return key;
  };
  return {
    enter(caller, tool) {
      const key = keyFor(caller);
      const ofTool = limited.get(tool);
      if (principals.of(key) >= each) return false;
      if (ofTool !== undefined && ofTool.organizations.of(caller.organizationId) >= ofTool.most) return false;
      principals.add(key, 1);
      ofTool?.organizations.add(caller.organizationId, 1);
      return true;
    },
    leave(caller, tool) {
      principals.add(keyFor(caller), -1);
      limited.get(tool)?.organizations.add(caller.organizationId, -1);
    },
  };
}

const mebibyte = 1024 * 1024;
const most = 256 * mebibyte;
const mostEach = 64 * mebibyte;

/** Answers below this size fit the socket buffer. */
const smallBytes = 64 * 1024;

/** The memory of large answers that slow readers have not taken yet. */
export class HeldAnswers {
  readonly #held = new Counts();

  /** Why no further call may begin while so much is held, by all or by the organization; undefined when one may. */
  refusal(organizationId: OrganizationId): SightlineError | undefined {
    if (this.#held.total === 0) return undefined;
    const own = this.#held.of(organizationId) >= mostEach;
    if (!own && this.#held.total < most) return undefined;
    return new SightlineError(own ? 'rate_limited' : 'overloaded', 'Too many large answers wait to be read.', {
      hint: 'Read the answers to earlier calls, or ask for fewer rows.',
      retryAfterSeconds: 2,
    });
  }

  /** Counts an answer until it is with the operating system, or its reader is gone. */
  add(organizationId: OrganizationId, bytes: number, response: ServerResponse): void {
    if (bytes <= smallBytes || response.closed || response.destroyed) return;
    this.#held.add(organizationId, bytes);
    response.once('close', () => this.#held.add(organizationId, -bytes));
  }
}
