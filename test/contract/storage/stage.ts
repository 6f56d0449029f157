import { SightlineError, hashSecret, newId, type Host, type UserId } from '../../../src/contract/core/index.ts';
import type {
  Actor,
  AuditRecord,
  Conclusion,
  InvestigationStep,
  NewChat,
  NewGrant,
  NewIncident,
  NewInvitation,
  NewKey,
  NewScimToken,
  NewSession,
  Organization,
  Storage,
  User,
  Workspace,
} from '../../../src/contract/storage/index.ts';
import { rejection, type Runner } from '../runner.ts';

/** One empty store, and ways to it. */
export interface StorageUnderTest {
  /** Another instance over the same store, as another process would have one. Not started. */
  open(overrides?: Partial<Host>): Storage;
  /** How a process of its own opens the same store. */
  readonly process: StorageProcess;
  /** Removes the store, once all instances are stopped. */
  cleanup(): Promise<void>;
}

export interface StorageProcess {
  /** URL of the module whose default export is the storage plugin. */
  readonly module: string;
  readonly config: unknown;
  readonly dataDirectory: string;
}

/** Gives a store in which nothing is kept. It may be migrated already, unless it is asked for without a schema. */
export type MakeStorage = (without?: 'schema') => Promise<StorageUnderTest>;

/** A store with two instances over it, started; what two processes do to each other is tried with them. */
export class Stage {
  readonly store: StorageUnderTest;
  readonly storage: Storage;
  readonly other: Storage;
  readonly #opened: Storage[];
  #named = 0;

  private constructor(store: StorageUnderTest) {
    this.store = store;
    this.storage = store.open();
    this.other = store.open();
    this.#opened = [this.storage, this.other];
  }

  static async make(make: MakeStorage): Promise<Stage> {
    const stage = new Stage(await make());
    await stage.storage.start(soon());
    await stage.other.start(soon());
    return stage;
  }

  /** One more instance, started. */
  async open(overrides: Partial<Host> = {}): Promise<Storage> {
    const storage = this.store.open(overrides);
    this.#opened.push(storage);
    await storage.start(soon());
    return storage;
  }

  async organization(): Promise<Organization> {
    return this.storage.directory.createOrganization({ name: `Organization ${(this.#named += 1)}` });
  }

  async workspace(): Promise<Workspace> {
    return this.storage.workspace((await this.organization()).id);
  }

  /** The same organization's workspace, through each instance. */
  async workspaces(): Promise<readonly [Workspace, Workspace]> {
    const { id } = await this.organization();
    return [this.storage.workspace(id), this.other.workspace(id)];
  }

  /** An account; its address is of this stage alone. */
  async person(): Promise<User> {
    const name = `person-${(this.#named += 1)}`;
    return this.storage.directory.createUser({ email: `${name}@example.org`, name });
  }

  /** An account that belongs to the organization. */
  async member({ members }: Workspace): Promise<User> {
    const person = await this.person();
    await members.add(person.id, 'member');
    return person;
  }

  async end(): Promise<void> {
    for (const storage of this.#opened) await storage.stop();
    await this.store.cleanup();
  }
}

/** A stage for all tests of the group, which keep to organizations of their own. */
export function sharedStage({ beforeAll, afterAll }: Runner, make: MakeStorage): () => Stage {
  return held(make, beforeAll, afterAll);
}

/** A stage for each test, where organizations cannot keep apart. */
export function ownStage({ beforeEach, afterEach }: Runner, make: MakeStorage): () => Stage {
  return held(make, beforeEach, afterEach);
}

function held(make: MakeStorage, before: Runner['beforeAll'], after: Runner['afterAll']): () => Stage {
  let stage: Stage | undefined;
  before(async () => {
    stage = await Stage.make(make);
  });
  after(async () => {
    await stage?.end();
    stage = undefined;
  });
  return () => {
    if (stage === undefined) throw new Error('the stage is not set');
    return stage;
  };
}

export function soon(): AbortSignal {
  return AbortSignal.timeout(20_000);
}

/** The code of the SightlineError the promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await rejection(promise);
  if (error instanceof SightlineError) return error.code;
  throw error;
}

/** A value that is there: fails the test otherwise. */
export function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('expected a value');
  return value;
}

export const ada: Actor = { kind: 'user', id: newId('usr'), name: "Ada O'Neill" };
export const bob: Actor = { kind: 'key', id: newId('ak'), name: 'deploy "bot"' };
export const agent: Actor = { kind: 'agent', id: 'playbook', name: 'Playbook' };

/** Text that breaks what quotes, cuts, escapes or counts bytes carelessly. */
export const awkward = `'; DROP TABLE chats; -- "q" \`b\` \\ % _ ! ? ?? :a $1 {} \u{1F600}\u{1F9D1}\u200D\u{1F680} Ünïcödé ÅÄÖ 日本語 \u202Eabc\r\n\t`;

export function newScimToken(): NewScimToken {
  const id = newId('sct');
  return { id, hash: hashSecret(id), lastFour: id.slice(-4), createdBy: 'usr_x' };
}

export function newKey(overrides: Partial<NewKey> = {}): NewKey {
  const id = newId('ak');
  return {
    id,
    name: 'CI',
    scopes: ['telemetry:read', 'chats:write'],
    secret: newSecret(),
    createdBy: 'operator',
    ...overrides,
  };
}

export function newSecret() {
  const id = newId('sec');
  return { id, hash: hashSecret(id), lastFour: id.slice(-4) };
}

export function newGrant(userId: UserId, overrides: Partial<NewGrant> = {}): NewGrant {
  return {
    id: newId('gra'),
    userId,
    clientId: 'https://client.example/metadata',
    clientName: 'Client',
    redirectOrigin: 'http://127.0.0.1:4711',
    scopes: ['telemetry:read'],
    ...overrides,
  };
}

export function newInvitation(overrides: Partial<NewInvitation> = {}): NewInvitation {
  const id = newId('invt');
  return {
    id,
    email: `${id}@example.org`,
    role: 'member',
    hash: hashSecret(id),
    createdBy: 'operator',
    expiresAt: inAnHour(),
    ...overrides,
  };
}

export function newSession(userId: UserId, overrides: Partial<NewSession> = {}): NewSession {
  return { hash: hashSecret(newId('sec')), userId, expiresAt: inAnHour(), ...overrides };
}

export function inAnHour(): Date {
  return new Date(Date.now() + 3_600_000);
}

/** As a host that lives so much later. */
export function later(milliseconds: number): Pick<Host, 'now'> {
  return { now: () => new Date(Date.now() + milliseconds) };
}

export function newIncident(overrides: Partial<NewIncident> = {}): NewIncident {
  return { title: 'Checkout fails', severity: 'high', source: 'test', startedAt: new Date(), ...overrides };
}

export function newAuditRecord(): AuditRecord {
  return { at: new Date(), event: 'tool.call', subject: 's', requestId: 'r', target: 't', outcome: 'ok' };
}

export function newChat(overrides: Partial<NewChat> = {}): NewChat {
  return {
    title: 'Why is checkout slow?',
    message: 'Look at the last hour',
    author: ada,
    engine: 'playbook',
    ...overrides,
  };
}

export function newStep(seq: number, overrides: Partial<InvestigationStep> = {}): InvestigationStep {
  return {
    seq,
    evidence_id: `E${seq}`,
    question: 'Which service fails most?',
    sql: "SELECT service_name, count(*) FROM otel.spans WHERE status_code = 'ERROR' GROUP BY 1",
    dialect: 'duckdb',
    window: { start: '2026-11-21T08:00:00.000Z', end: '2026-11-21T09:00:00.000Z' },
    columns: ['service_name', 'count'],
    rows: [
      ['checkout', '9007199254740993'],
      [null, 1.5],
    ],
    row_count: 2,
    observation: 'checkout fails most',
    verdict: 'supports',
    elapsed_ms: 12.5,
    recorded_at: '2026-11-21T09:00:00.000Z',
    ...overrides,
  };
}

export const conclusion: Conclusion = {
  root_cause: 'The payment gateway times out',
  category: 'dependency',
  service: 'payment',
  confidence: 'high',
  claims: [
    { text: awkward, status: 'supported', evidence_ids: ['E1', 'E2'] },
    { text: 'The pool is too small', status: 'hypothesis', evidence_ids: [] },
  ],
  not_checked: ['the database'],
};

export async function inTurn<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** Waits, for at most five seconds, until the condition holds. */
export async function eventually(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 5_000;
  while (Date.now() < end && !(await condition())) await new Promise((resolve) => setTimeout(resolve, 25));
}
