import type { OrganizationId } from '../../../src/contract/core/index.ts';
import type { TableName, Telemetry, TimeReach } from '../../../src/contract/telemetry/index.ts';
import { rejection, type Runner } from '../runner.ts';
import type { Row } from '../telemetry-rows.ts';
import { ask, writeRows, type Answer, type AskOptions, type WarehouseUnderTest } from './warehouse.ts';

export interface TelemetryUnderTest extends WarehouseUnderTest {
  /** Statements of the dialect. */
  readonly sql: {
    /** Runs for minutes unless it is stopped, in little memory. */
    readonly slow: string;
    /** At least 100,000 rows of one column. */
    readonly manyRows: string;
    /** One text of at least 100,000 characters, some of them of more than one byte. */
    readonly longText: string;
    /** With what `check` must find of each place that reads a table, in order. */
    readonly bounded: readonly { readonly sql: string; readonly reaches: readonly TimeReach[] }[];
  };
  /** Columns that the warehouse has no place for, so that what was written into them is not there. */
  readonly lacks?: Partial<Readonly<Record<TableName, readonly string[]>>>;
}

export const time = new Date('2026-03-01T12:00:00.123Z');
export const minutes = (count: number): Date => new Date(time.getTime() + count * 60_000);

/** A started warehouse with three rows of one organization and one of another in every table that it has. */
export class Stage {
  readonly subject: TelemetryUnderTest;
  readonly telemetry: Telemetry;
  readonly own: OrganizationId;
  readonly other: OrganizationId;
  readonly tables: readonly TableName[];

  private constructor(subject: TelemetryUnderTest) {
    this.subject = subject;
    this.telemetry = subject.component;
    [this.own, this.other] = subject.organizations;
    this.tables = this.telemetry.dialect.tables.map(({ name }) => name);
  }

  static async make(make: () => Promise<TelemetryUnderTest>): Promise<Stage> {
    const subject = await make();
    await subject.component.start(AbortSignal.timeout(20_000));
    const stage = new Stage(subject);
    for (const table of stage.tables) {
      await stage.write(stage.own, table, [row(0, 'first'), row(10, 'second'), row(20, 'third')]);
      await stage.write(stage.other, table, [row(5, 'foreign')]);
    }
    return stage;
  }

  write(organizationId: OrganizationId, table: TableName, rows: readonly Row[]): Promise<void> {
    return writeRows(this.subject, organizationId, table, rows);
  }

  query(sql: string, options: AskOptions & { readonly as?: OrganizationId } = {}): Promise<Answer> {
    return ask(this.telemetry, options.as ?? this.own, sql, options);
  }

  /** What the statement is answered with, which must be an error. */
  refusal(sql: string, options: AskOptions = {}): Promise<unknown> {
    return rejection(this.query(sql, options));
  }

  has(table: TableName, column = 'time'): boolean {
    return this.tables.includes(table) && this.subject.lacks?.[table]?.includes(column) !== true;
  }

  async end(): Promise<void> {
    await this.telemetry.stop();
    await this.subject.cleanup();
  }
}

/** One stage for all the promises of a block. */
export function sharedStage({ beforeAll, afterAll }: Runner, make: () => Promise<TelemetryUnderTest>): () => Stage {
  let stage: Stage | undefined;
  beforeAll(async () => {
    stage = await Stage.make(make);
  });
  afterAll(async () => {
    await stage?.end();
  });
  return () => {
    if (stage === undefined) throw new Error('the warehouse did not start');
    return stage;
  };
}

/** What fits all three tables: a column that a table lacks is left out. */
export function row(minute: number, name: string): Row {
  return {
    time: minutes(minute),
    start_time: minutes(minute),
    end_time: new Date(minutes(minute).getTime() + 2),
    observed_time: minutes(minute),
    duration_nano: 1_500_000,
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    span_id: 'b7ad6b7169203331',
    flags: 1,
    name,
    service_name: name,
    kind: 'SERVER',
    status_code: 'ERROR',
    attributes: { 'http.route': '/cart', "o'clock": 'yes' },
    resource_attributes: { 'service.name': name },
    scope_attributes: { build: '7' },
    schema_url: 'https://example.com/1',
    otlp_fields: { dropped_attributes_count: '3' },
    scope_name: 'scope',
    events: [{ time: '2026-03-01T12:00:00.123456Z', name: 'exception', attributes: { 'exception.type': 'E' } }],
    links: [{ trace_id: 'aa', span_id: 'bb', trace_state: '', attributes: { k: 'v' } }],
    type: 'histogram',
    unit: 'ms',
    is_monotonic: true,
    count: 5,
    sum: 12.5,
    bucket_counts: [1, 4],
    explicit_bounds: [0.5],
    quantile_values: [{ quantile: 0.5, value: 2 }],
    as_int: '9007199254740993',
    zero_threshold: 0.25,
    exemplars: [
      {
        time: '2026-03-01T12:00:00.123456Z',
        value: 1.5,
        trace_id: '0af7651916cd43dd8448eb211c80319c',
        span_id: 'b7ad6b7169203331',
        filtered_attributes: { 'user.id': '4' },
      },
    ],
    severity_number: 17,
    severity_text: 'ERROR',
    body: 'connection refused',
    event_name: 'e',
  };
}
