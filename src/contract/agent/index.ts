import type { OrganizationId } from '../core/ids.ts';
import type { ChatMessage, MessagePart } from '../storage/chat.ts';
import type { Incident } from '../storage/incident.ts';
import type { Conclusion, Investigation, InvestigationStep, Claim } from '../storage/investigation.ts';
import type { Component, Host } from '../core/component.ts';
import type { Dialect, QueryLimits, ResultColumn } from '../telemetry/telemetry.ts';

/**
 * Investigates one question over an organization's telemetry. It keeps nothing: the core stores what it yields, and after
 * a crash calls it again with the recorded steps, which it must not repeat.
 */
export interface Agent extends Component {
  /** Shown as the investigation's engine. */
  readonly engine: string;
  investigate(assignment: Assignment, signal: AbortSignal): AsyncIterable<AgentEvent>;
}

export interface Assignment {
  readonly organizationId: OrganizationId;
  /** The chat so far, oldest first; the last user message is the question. Empty when an alert began it. */
  readonly messages: readonly ChatMessage[];
  readonly incident?: Incident;
  /** Steps already recorded, by seq. */
  readonly steps: readonly InvestigationStep[];
  /** What was found before in this chat, or about its incident: the newest first, at most five. */
  readonly earlier?: readonly EarlierInvestigation[];
  /** Evidence ids count on from this number, by default 0, so that they are unique in an incident and in a chat. */
  readonly evidenceAfter?: number;
  /** When the question was asked, or what the agent asked back was answered: its "now", also when it is resumed after a crash. */
  readonly askedAt: Date;
}

/** Begins the list of evidence at the end of an answer, which pages fold. */
export const evidenceLead = 'Evidence:';

/** One that came to a conclusion. */
export interface EarlierInvestigation extends Pick<Investigation, 'askedAt'> {
  readonly conclusion: Conclusion;
  readonly steps: readonly InvestigationStep[];
}

export type AgentEvent =
  /** Stored under the next seq before the agent goes on. */
  | { readonly type: 'step'; readonly step: NewStep }
  /** A sentence about what is being done, shown as progress until the next one. */
  | { readonly type: 'progress'; readonly message: string }
  /** The chat waits on a person; the reply starts the agent again. */
  | { readonly type: 'question'; readonly question: string }
  /** A reply that is no finding of its own. */
  | {
      readonly type: 'answer';
      readonly answer: string;
      readonly parts?: readonly MessagePart[];
      /** Left to an agent that has an answer of its own: it offers help, or no more than what was found before. */
      readonly unanswered?: true;
    }
  | {
      readonly type: 'conclusion';
      readonly answer: string;
      readonly conclusion: Conclusion;
      readonly document?: string;
    };

export type NewStep = Omit<InvestigationStep, 'seq' | 'evidence_id' | 'recorded_at'> & {
  readonly evidence_id?: string;
};

export interface AgentHost extends Host {
  readonly dialect: Dialect;
  /** Through the same gate, limits and boundary as `query_otel`. Rejects with a SightlineError. */
  query(organizationId: OrganizationId, sql: string, options: AgentQueryOptions): Promise<AgentRows>;
  /**
   * The shipped agent that needs no model: made when it is first read in `create`, started before the agent that asked and
   * stopped after it. Absent for that agent itself.
   */
  readonly baseline?: Agent;
}

export interface AgentQueryOptions {
  readonly signal: AbortSignal;
  readonly limits?: Partial<QueryLimits>;
}

export interface AgentRows {
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly (readonly unknown[])[];
  readonly truncated: boolean;
  readonly elapsedMs: number;
}

export type Evidence = Pick<InvestigationStep, 'evidence_id' | 'verdict' | 'observation' | 'error'>;

const denies = /^(?:no|none|nothing|neither)\b|\b(?:no more|no slower|not slower|not new|unchanged)\b/i;
const named = /`([^`]+)`/g;

/**
 * Whether a supported claim stands against the evidence that it cites: it asserts what all of it refutes or could not check, or
 * denies a change that part of it shows. Evidence that names other services alone says nothing against a denial about one.
 */
export function contradicts({ text, status, evidence_ids: ids }: Claim, steps: readonly Evidence[]): boolean {
  const cited = steps.filter(({ evidence_id: id }) => ids.includes(id));
  if (status !== 'supported' || cited.length === 0) return false;
  // What telemetry says in quotes asserts nothing.
  if (!denies.test(text.replaceAll(named, '')))
    return cited.every(({ verdict, error }) => verdict === 'refutes' || error !== undefined);
  const about = [...text.matchAll(named)].map(([quoted]) => quoted);
  const speaksOf = (observation: string): boolean =>
    about.length === 0 || about.some((quoted) => observation.includes(quoted));
  return cited.some(
    ({ verdict, observation, error }) => error !== undefined || (verdict === 'supports' && speaksOf(observation)),
  );
}

/** The conclusion as its evidence allows: a contradicted claim is a hypothesis, and what rests on one is held with low confidence. */
export function heldTo(conclusion: Conclusion, steps: readonly Evidence[]): Conclusion {
  const claims = conclusion.claims.map((claim) =>
    contradicts(claim, steps) ? { ...claim, status: 'hypothesis' as const } : claim,
  );
  const isHeld = claims.every(({ status }, index) => status === conclusion.claims[index]?.status);
  if (isHeld) return conclusion;
  return { ...conclusion, claims, confidence: conclusion.confidence === 'none' ? 'none' : 'low' };
}
