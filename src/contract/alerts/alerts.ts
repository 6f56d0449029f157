import type { Severity } from '../storage/incident.ts';

/**
 * Understands what one kind of sender posts about alerts. It has no connections and keeps nothing: the core receives the
 * request, finds the organization by the address, and stores what comes out.
 */
export interface AlertInput {
  /** Whether who sent the request knows the source's secret. Compares in constant time; never throws. */
  verify(request: AlertRequest, secret: string): boolean;
  /**
   * The notices in the body, in order. Throws `invalid_argument` with the mistake and its place, for the sender's operator,
   * where there is nothing to take; `warn` tells the operator of what was left out or guessed, in words of ours.
   */
  normalize(body: unknown, warn: Warn): readonly AlertNotice[];
  /** The address that a sender wants to have visited before it sends alerts (Amazon SNS); pinned to the sender's own host. */
  confirmation?(body: unknown): string | undefined;
  /** For the operator who sets up the sender: text to paste, with the address and the secret in it. */
  instructions(source: { readonly url: string; readonly secret: string }): string;
}

/** One sentence, with the place in the body and none of its values. */
export type Warn = (warning: string) => void;

export interface AlertRequest {
  /** Lower-case names, as Node gives them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As received: what a signature is computed over. */
  readonly body: Buffer;
}

/** One alert as the sender sees it now. Texts are a stranger's: bounded, and data only. */
export interface AlertNotice {
  /** The same for every notice about the same alert. Unique within the source only. */
  readonly fingerprint: string;
  readonly status: 'firing' | 'acknowledged' | 'resolved';
  readonly title: string;
  readonly description?: string;
  readonly severity: Severity;
  readonly startsAt: Date;
  readonly endsAt?: Date;
  /** At most 64, names at most 100 and values at most 500 characters. */
  readonly labels: Readonly<Record<string, string>>;
  /** What the sender itself groups by (Alertmanager's groupKey, PagerDuty's incident). */
  readonly group?: string;
  /** Services it names; the core looks in the labels too. */
  readonly services: readonly string[];
  readonly environment?: string;
  /** https or http, to look at the alert in the sender. */
  readonly url?: string;
}
