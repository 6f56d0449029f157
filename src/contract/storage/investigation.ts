import type { ChatId, IncidentId, InvestigationId, OrganizationId } from '../core/ids.ts';
import type { MessagePart } from './chat.ts';
import type { Actor } from './record.ts';

export type InvestigationStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

export interface InvestigationStep {
  readonly seq: number;
  /** `E1`, `E2` …: what a claim cites. */
  readonly evidence_id: string;
  readonly question: string;
  /** As it ran; works in `query_otel` as it stands. Of the dialect `mcp`: server, tool and arguments of a call. */
  readonly sql: string;
  /** Of the SQL; `mcp` where another MCP server was asked. */
  readonly dialect: string;
  readonly window: { readonly start: string; readonly end: string };
  readonly columns: readonly string[];
  /** At most 50. */
  readonly rows: readonly (readonly unknown[])[];
  readonly row_count: number;
  readonly observation: string;
  readonly verdict: 'supports' | 'refutes' | 'neutral';
  readonly elapsed_ms: number;
  readonly error?: string;
  readonly recorded_at: string;
}

export interface Claim {
  readonly text: string;
  readonly status: 'supported' | 'hypothesis';
  readonly evidence_ids: readonly string[];
}

/** What speaks for a service as the cause, and what against it: one sentence each. */
export interface Suspicion {
  readonly service: string;
  readonly why: string;
  readonly why_not?: string;
  readonly evidence_ids: readonly string[];
}

export interface Conclusion {
  readonly root_cause: string;
  readonly category: string;
  /** With the cause; a host or a zone where several services share that. */
  readonly service: string;
  readonly confidence: 'high' | 'medium' | 'low' | 'none';
  readonly claims: readonly Claim[];
  readonly not_checked?: readonly string[];
  /** Services that may be the cause, most likely first; begins with `service`. */
  readonly suspects?: readonly string[];
  /** Of the likeliest of these. */
  readonly suspicions?: readonly Suspicion[];
  /** When it began, RFC 3339. */
  readonly onset?: string;
  /** The stretch that was looked at, RFC 3339. */
  readonly window?: { readonly start: string; readonly end: string };
  /** How bad it was in each part of that time and of the time before, by one measure: at most 60 numbers from 0. */
  readonly trend?: readonly number[];
}

/** Columns by which a step is known for one operation's requests over time; the first is the start of a part. */
export const courseColumns = [
  'bucket',
  'requests',
  'failed',
  'median_nano',
  'p95_nano',
  'service_name',
  'name',
] as const;
/** Columns by which a step is known for how long requests take. */
export const spreadColumns = ['up_to_ms', 'requests_now', 'requests_before'] as const;

/** Columns by which steps are known that the pictures of an incident are made of. */
export const pictureColumns = {
  course: courseColumns,
  spread: spreadColumns,
  calls: ['caller', 'callee'],
  failing: ['service_name', 'name', 'spans', 'errors', 'spans_before', 'errors_before'],
  slow: ['service_name', 'name', 'spans', 'slow_spans', 'p95_nano', 'p95_before_nano'],
  changes: ['first_seen', 'kind', 'service', 'version', 'flag', 'flag_value'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** What stands beside an incident in lists and is searched, of the conclusion that its document tells. */
export interface Finding extends Pick<Conclusion, 'root_cause' | 'service' | 'category' | 'confidence' | 'trend'> {
  /** The texts of its claims. */
  readonly claims: readonly string[];
  /** The likeliest of the other services that may be the cause. */
  readonly rivals?: readonly Omit<Suspicion, 'evidence_ids'>[];
}

const mostClaims = 20;
const mostRivals = 2;

const cut = (text: string, most = 400): string => text.slice(0, most).toWellFormed();

/** Undefined where no cause was found. */
export function findingOf({ claims, ...conclusion }: Conclusion): Finding | undefined {
  const { root_cause, service, category, confidence } = conclusion;
  if (root_cause === '' || confidence === 'none') return undefined;
  const said = claims.slice(0, mostClaims).map(({ text }) => cut(text));
  const cause = { root_cause: cut(root_cause, 1_000), service, category, confidence };
  const others = (conclusion.suspicions ?? []).filter((one) => one.service !== service).slice(0, mostRivals);
  const rivals = others.map(({ service: name, why, why_not: not }) =>
    not === undefined ? { service: name, why: cut(why) } : { service: name, why: cut(why), why_not: cut(not) },
  );
  const { trend } = conclusion;
  return { ...cause, claims: said, ...(rivals.length > 0 && { rivals }), ...(trend && { trend }) };
}

export interface Investigation {
  readonly id: InvestigationId;
  readonly organizationId: OrganizationId;
  readonly chatId?: ChatId;
  readonly incidentId?: IncidentId;
  readonly status: InvestigationStatus;
  readonly engine: string;
  readonly askedAt: Date;
  readonly startedAt?: Date;
  readonly finishedAt?: Date;
  /** Absent also where it answered from what was found before. */
  readonly conclusion?: Conclusion;
  /** Safe to show. */
  readonly failure?: string;
  /** What it asked a person, while it waits for the answer. */
  readonly question?: string;
  /** The agent's last sentence about what it does, while it runs. */
  readonly doing?: string;
}

export interface ClaimedInvestigation {
  readonly id: InvestigationId;
  readonly organizationId: OrganizationId;
}

export interface InvestigationRepository {
  get(id: InvestigationId): Promise<Investigation | undefined>;
  /** Newest first. */
  ofIncident(id: IncidentId): Promise<readonly Investigation[]>;
  ofChat(id: ChatId): Promise<readonly Investigation[]>;
  steps(id: InvestigationId): Promise<readonly InvestigationStep[]>;
  /** For work an alert began; a chat queues its own. */
  enqueue(input: {
    readonly incidentId?: IncidentId;
    readonly chatId?: ChatId;
    readonly engine: string;
  }): Promise<Investigation>;
  /** Stores the step under its seq; a second one of that seq is ignored. With `holder`, `conflict` unless it is leased to that one. */
  addStep(id: InvestigationId, step: InvestigationStep, holder?: string): Promise<void>;
  /** Keeps the sentence about what a running investigation does. */
  progress(id: InvestigationId, doing: string): Promise<void>;
  /** Sets the status; with a chat, its status and closing message in the same transaction. `holder` as for a step. */
  finish(id: InvestigationId, result: InvestigationResult, holder?: string): Promise<void>;
}

export type InvestigationResult =
  | ({ readonly status: 'completed'; readonly conclusion?: Conclusion } & ClosingMessage)
  | ({ readonly status: 'waiting' } & ClosingMessage)
  | ({ readonly status: 'failed'; readonly failure: string } & ClosingMessage)
  | { readonly status: 'cancelled' };

/** The final message in the chat. */
export interface ClosingMessage {
  readonly message: string;
  readonly author: Actor;
  readonly parts?: readonly MessagePart[];
}

/**
 * The one that tells about an incident, of its investigations, the newest first: the newest that works, waits or found
 * something; else the newest. One that only answered from what was found before tells nothing new.
 */
export function chooseInvestigation(newestFirst: readonly Investigation[]): Investigation | undefined {
  const telling = newestFirst.find(
    ({ status, conclusion }) =>
      status === 'queued' || status === 'running' || status === 'waiting' || conclusion !== undefined,
  );
  return telling ?? newestFirst[0];
}
