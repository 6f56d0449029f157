import { SightlineError, type OrganizationId } from '../../src/contract/core/index.ts';
import { tableNames } from '../../src/contract/telemetry/index.ts';
import { attackerRows, ownRows, tracesOf, victimRows, withheld } from './isolation-rows.ts';
import type { Runner } from './runner.ts';
import { ask, writeRows, type WarehouseUnderTest } from './telemetry/warehouse.ts';

export { legitimateContract, type LegitimateStatement } from './telemetry/legitimate.ts';

export interface HostileStatement {
  readonly sql: string;
  /**
   * `refused`: before anything runs. `answered`: with rows, since it fails only when it touches the victim's, whose texts
   * all begin with `withheldPrefix`. `any`: it may run and may fail, and finds nothing of the victim either way.
   */
  readonly expect: 'refused' | 'answered' | 'any';
  /** Would harm the engine or the machine if it ran: not sent where the gate is off. */
  readonly gateOnly?: true;
}

export interface IsolationUnderTest extends WarehouseUnderTest {
  /** Other texts that must not come back: of a file on the server, of its environment. */
  readonly secrets?: readonly string[];
  /** Everything that comes back, errors too, when the SQL runs where nothing keeps organizations apart. */
  bare?(sql: string): Promise<string>;
}

/** The same warehouse with one of its layers switched off. */
export interface IsolationLayer {
  /** What is off. */
  readonly without: string;
  /** Whether it is the gate: then statements pass that it would refuse. */
  readonly isGate?: true;
  make(): Promise<IsolationUnderTest>;
}

export interface HostileCorpus {
  /** At least 150, for the organizations of one warehouse. */
  statements(targets: IsolationTargets): readonly HostileStatement[];
  /** Each must hold alone for what the others would have stopped. */
  readonly layers?: readonly IsolationLayer[];
}

export interface IsolationTargets {
  readonly attacker: OrganizationId;
  readonly victim: OrganizationId;
}

const quick = { maxRows: 50, maxBytes: 200_000, timeoutMs: 300 };
const patient = { ...quick, timeoutMs: 10_000 };
const corpusTimeoutMs = 300_000;

/**
 * Two organizations of one warehouse. What the attacker sends never shows, counts or changes anything of the victim:
 * neither in rows, nor in column names, nor in an error, nor in what of it goes to the log.
 */
export function isolationContract(
  runner: Runner,
  make: () => Promise<IsolationUnderTest>,
  corpus: HostileCorpus,
): void {
  const { describe } = runner;
  describe('hostile statements', () => suite(runner, make, corpus, { gated: true, whole: true }));
  for (const { without, isGate, make: makeLayer } of corpus.layers ?? []) {
    describe(`hostile statements without ${without}`, () =>
      suite(runner, makeLayer, corpus, { gated: isGate !== true, whole: false }));
  }
}

function suite(
  { it, expect, beforeAll, afterAll }: Runner,
  make: () => Promise<IsolationUnderTest>,
  corpus: HostileCorpus,
  { gated, whole }: { readonly gated: boolean; readonly whole: boolean },
): void {
  let subject: IsolationUnderTest;
  let targets: IsolationTargets;
  let statements: readonly HostileStatement[];
  const now = new Date();
  const window = { start: new Date(now.getTime() - 86_400_000) };
  const secret = withheld(now);
  const found = (sql: string, text: string) => [
    ...tracesOf(secret.marker, targets.victim, sql, text),
    ...(subject.secrets ?? []).filter((other) => text.includes(other)),
  ];

  beforeAll(async () => {
    subject = await make();
    const [attacker, victim] = subject.organizations;
    targets = { attacker, victim };
    await subject.component.start(AbortSignal.timeout(20_000));
    for (const table of tableNames) {
      await writeRows(subject, victim, table, secret.rows(table));
      await writeRows(subject, attacker, table, ownRows(now));
    }
    statements = corpus.statements(targets).filter(({ gateOnly }) => gated || gateOnly !== true);
  });
  afterAll(async () => {
    await subject.component.stop();
    await subject.cleanup();
  });

  const expectUnchanged = async () => {
    for (const table of tableNames) {
      const sql = `SELECT count(*) AS n FROM otel.${table}`;
      const of = async (organizationId: OrganizationId) =>
        Number((await ask(subject.component, organizationId, sql, { window })).rows[0]?.[0]);
      expect([table, await of(targets.victim), await of(targets.attacker)]).toEqual([table, victimRows, attackerRows]);
    }
  };

  /** A server need not end a query at once whose answer nobody waits for any more. */
  const settled = async () => {
    const limits = { ...quick, timeoutMs: 60_000 };
    await ask(subject.component, targets.attacker, 'SELECT count(*) AS n FROM otel.spans', { limits, window });
  };

  it('are after rows that are there for their owner', async () => {
    await expectUnchanged();
    const { text } = await ask(subject.component, targets.victim, 'SELECT * FROM otel.spans', {
      window,
      limits: { maxRows: 1 },
    });
    expect(tracesOf(secret.marker, targets.victim, '', text)).toContain('its marker');
    expect(text).toContain('7318052946');
  });

  if (whole) {
    it('are at least 150', () => {
      expect(statements.length).toBeGreaterThanOrEqual(150);
      expect(new Set(statements.map(({ sql }) => sql)).size).toBe(statements.length);
    });

    it(
      'find what they are after where nothing keeps organizations apart',
      async () => {
        if (!subject.bare) return;
        let seen = 0;
        for (const { sql, expect: outcome, gateOnly } of statements) {
          if (gateOnly || outcome === 'refused') continue;
          if (found(sql, await subject.bare(sql)).length > 0) seen += 1;
          if (seen === 10) return;
        }
        expect(seen).toBe(10);
      },
      corpusTimeoutMs,
    );
  }

  it(
    'find nothing of anybody else',
    async () => {
      const wrong: string[] = [];
      let late = 0;
      for (const { sql, expect: expected } of statements) {
        const limits = expected === 'answered' ? patient : quick;
        const asked = () => attempt(ask(subject.component, targets.attacker, sql, { limits, window }));
        let outcome = await asked();
        // One before it may still have kept the server busy; what is not answered shows nothing, and proves nothing.
        if (isLate(outcome)) {
          await settled();
          outcome = await asked();
        }
        if (isLate(outcome)) {
          late += 1;
          await settled();
        }
        const shown = `${sql.slice(0, 300)} → `;
        for (const trace of found(sql, textOf(outcome))) wrong.push(`${shown}shows ${trace}`);
        if (outcome instanceof Error && !(outcome instanceof SightlineError)) wrong.push(`${shown}${String(outcome)}`);
        if (gated) wrong.push(...misfit(expected, outcome).map((what) => shown + what));
      }
      expect(wrong).toEqual([]);
      expect(late).toBeLessThan(statements.length / 10);
    },
    corpusTimeoutMs,
  );

  it('have changed nothing', expectUnchanged, 60_000);
}

type Outcome = { readonly columns: readonly object[]; readonly text: string } | Error;

function misfit(expected: HostileStatement['expect'], outcome: Outcome): string[] {
  if (expected === 'any') return [];
  if (expected === 'answered') return outcome instanceof Error ? [`fails: ${outcome.message}`] : [];
  if (!(outcome instanceof SightlineError)) return ['is not refused'];
  if (!/^(?:sql_(?!failed)|unknown_)/.test(outcome.code)) return [`is not refused but ${outcome.code}`];
  return outcome.code === 'sql_refused' && !outcome.hint ? ['is refused without a hint'] : [];
}

function isLate(outcome: Outcome): boolean {
  return outcome instanceof SightlineError && outcome.code === 'query_timeout';
}

async function attempt(work: Promise<Exclude<Outcome, Error>>): Promise<Outcome> {
  try {
    return await work;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Everything that comes back, and what of an error only the log gets. */
function textOf(outcome: Outcome): string {
  if (!(outcome instanceof Error)) return `${JSON.stringify(outcome.columns)}\n${outcome.text}`;
  const { hint, retry } = outcome instanceof SightlineError ? outcome : {};
  const cause = outcome.cause instanceof Error ? textOf(outcome.cause) : '';
  return [outcome.message, hint, JSON.stringify(retry ?? {}), cause].join('\n');
}
