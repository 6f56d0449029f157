import { crc32 } from 'node:zlib';
import { writeFrame, type FrameColumn } from '../../contract/telemetry/batch-frame.ts';
import { otelTables, type TableName } from '../../contract/telemetry/index.ts';
import {
  batchRows,
  batchTextBytes,
  noLosses,
  requestRows,
  requestTextBytes,
  work,
  workOfBytes,
  type Losses,
  type RecordLimits,
} from './limits.ts';
import { OtlpFields } from './otlp-fields.ts';
import { TextColumn } from './text.ts';
import { ValueWriter } from './values.ts';
import { Fields, OtlpDecodeError, type WireReader } from './wire.ts';

/** Rows of one request that belong together in the log and in the warehouse. */
export interface EncodedBatch {
  readonly table: TableName;
  readonly rows: number;
  /** Of the rows written out, before what they share was folded together. */
  readonly textBytes: number;
  readonly frame: Uint8Array<ArrayBuffer>;
  /** CRC-32 of the frame, taken by the thread that made it. */
  readonly crc: number;
}

export interface Column {
  finish(): FrameColumn;
  reset(): void;
}

/** What the three decoders share while they read one request. */
export class Intake {
  readonly reader: WireReader;
  readonly values: ValueWriter;
  readonly limits: RecordLimits;
  readonly losses: Losses = noLosses();
  readonly batches: EncodedBatch[] = [];
  /** Epoch microseconds: stands in for a time that the sender left out. */
  readonly now: number;
  /** Epoch microseconds: what is older than this is soon deleted. */
  readonly oldest: number;
  service = '';
  accepted = 0;
  rejected = 0;
  /** Why, with how often. */
  readonly reasons = new Map<string, number>();
  #textBytes = 0;
  #rows = 0;

  constructor(reader: WireReader, limits: RecordLimits, now: number, oldest: number) {
    this.reader = reader;
    this.limits = limits;
    this.now = now;
    this.oldest = oldest;
    this.values = new ValueWriter(reader, limits, this.losses);
  }

  reject(reason: string, count = 1): void {
    this.rejected += count;
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + count);
  }

  add(batch: EncodedBatch): void {
    this.#textBytes += batch.textBytes;
    this.#rows += batch.rows;
    if (this.#textBytes > requestTextBytes)
      throw new OtlpDecodeError('The records of this request are too large together.', 'tooLarge');
    if (this.#rows > requestRows)
      throw new OtlpDecodeError(`The request has more than ${requestRows} records. Send fewer in one.`, 'tooLarge');
    this.batches.push(batch);
  }
}

export const dayMicros = 24 * 3600 * 1e6;
/** Beyond, a unit is mistaken. Up to here the wrong clock may be ours, and what is rejected is lost for good. */
const latestAhead = 7 * dayMicros;
const earliest = Date.UTC(2000, 0, 1) * 1000;

/** Columns that every table has, filled from resource and scope: one entry for each of them, one code a row. */
export class ContextColumns {
  readonly columns = {
    service_name: new TextColumn('string'),
    service_version: new TextColumn('string'),
    deployment_environment: new TextColumn('string'),
    resource_attributes: new TextColumn('json'),
    scope_name: new TextColumn('string'),
    scope_version: new TextColumn('string'),
    scope_attributes: new TextColumn('json'),
    schema_url: new TextColumn('string'),
    otlp_fields: new TextColumn('json'),
  };
  #rowBytes = 0;
  #resource: Described = nowhere;
  #scope: Described = nowhere;
  #resourceEntry = 0;
  #scopeEntry = 0;
  #resourceBytes = 0;
  readonly #shared = new OtlpFields();
  #fieldsEntry = 0;
  readonly #fields = new Fields();

  /** Bytes of text that a row has from here. */
  get rowBytes(): number {
    return this.#rowBytes;
  }

  resource(intake: Intake, resource: Described): void {
    this.#resource = resource;
    this.#writeResource(intake);
  }

  scope(intake: Intake, scope: Described): void {
    this.#scope = scope;
    this.#writeScope(intake);
  }

  /** After the columns were reset in the middle of a scope. */
  again(intake: Intake): void {
    this.#writeResource(intake);
    this.#writeScope(intake);
  }

  /** `own`: what the record has beside what resource and scope have. */
  row(own: OtlpFields | undefined): void {
    this.columns.service_name.code(this.#resourceEntry);
    this.columns.service_version.code(this.#resourceEntry);
    this.columns.deployment_environment.code(this.#resourceEntry);
    this.columns.resource_attributes.code(this.#resourceEntry);
    this.columns.scope_name.code(this.#scopeEntry);
    this.columns.scope_version.code(this.#scopeEntry);
    this.columns.scope_attributes.code(this.#scopeEntry);
    this.columns.schema_url.code(this.#scopeEntry);
    const fields = this.columns.otlp_fields;
    if (own === undefined || own.isEmpty) return fields.code(this.#fieldsEntry);
    own.write(fields, this.#shared);
    fields.rowShared();
  }

  #writeResource(intake: Intake): void {
    const { reader, values } = intake;
    const { from, to } = this.#resource;
    const attributes = this.columns.resource_attributes;
    const derived: { [Key in (typeof derivedKeys)[number]]?: Range } = {};
    values.openSet(attributes);
    for (reader.at = from; reader.find(0x0a, to);) {
      const range = { from: reader.from, to: reader.at };
      values.attribute(attributes, range.from, range.to);
      const key = derivedKeys.find((name) => values.hasKey(range.from, range.to, name));
      if (key !== undefined) derived[key] = range;
      reader.at = range.to;
    }
    values.closeSet(attributes);
    this.#resourceBytes = attributes.pending;
    this.#resourceEntry = attributes.entry();
    this.#derive(intake, this.columns.service_name, derived['service.name']);
    this.#derive(intake, this.columns.service_version, derived['service.version']);
    const environment = derived['deployment.environment.name'] ?? derived['deployment.environment'];
    this.#derive(intake, this.columns.deployment_environment, environment);
    reader.spend(work.resource + workOfBytes(this.#resourceBytes));
    this.#rowBytes = this.#resourceBytes;
  }

  #derive(intake: Intake, column: TextColumn, attribute: Range | undefined): void {
    if (attribute !== undefined) intake.values.valueOf(column, attribute.from, attribute.to);
    if (intake.service === '' && column === this.columns.service_name && column.pending > 0) {
      const bytes = column.bytes.subarray(column.pendingFrom, Math.min(column.length, column.pendingFrom + 200));
      intake.service = Buffer.from(bytes).toString('utf8');
    }
    this.#resourceBytes += column.pending;
    column.entry();
  }

  #writeScope(intake: Intake): void {
    const { reader, values } = intake;
    const { scope_name, scope_version, scope_attributes, schema_url, otlp_fields } = this.columns;
    const { from, to } = this.#scope;
    this.#shareFields(intake);
    values.attributes(scope_attributes, from, to, 0x1a);
    const fields = this.#fields.read(reader, from, to);
    values.string(scope_name, fields, 0x0a);
    values.string(scope_version, fields, 0x12);
    const { schemaUrl: own } = this.#scope;
    values.text(schema_url, own.from < own.to ? own : this.#resource.schemaUrl);
    this.#shared.write(otlp_fields);
    const texts = [scope_name, scope_version, scope_attributes, schema_url, otlp_fields];
    this.#rowBytes = texts.reduce((sum, { pending }) => sum + pending, this.#resourceBytes);
    reader.spend(work.scope + workOfBytes(this.#rowBytes - this.#resourceBytes));
    this.#fieldsEntry = otlp_fields.entry();
    this.#scopeEntry = scope_name.entry();
    for (const column of [scope_version, scope_attributes, schema_url]) column.entry();
  }

  /** Of a schema URL of the scope the resource's may differ. */
  #shareFields({ reader, values }: Intake): void {
    const [resource, scope] = [this.#resource, this.#scope];
    this.#shared.clear();
    const [resourceUrl, scopeUrl] = [resource, scope].map(({ schemaUrl }) => values.plainText(schemaUrl));
    if (scopeUrl !== '' && scopeUrl !== resourceUrl) this.#shared.text('resource_schema_url', resourceUrl ?? '');
    this.#shared.count(
      'resource_dropped_attributes_count',
      this.#fields.read(reader, resource.from, resource.to).low(0x10),
    );
    this.#shared.count('scope_dropped_attributes_count', this.#fields.read(reader, scope.from, scope.to).low(0x20));
  }
}

const derivedKeys = [
  'service.name',
  'service.version',
  'deployment.environment.name',
  'deployment.environment',
] as const;

/** Where a message lies in the request. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A resource or a scope, and where its schema URL lies. */
export interface Described extends Range {
  readonly schemaUrl: Range;
}

const nowhere: Described = { from: 0, to: 0, schemaUrl: { from: 0, to: 0 } };

/** Counts rows, and closes the batch when it is large enough. */
export class TableWriter {
  readonly context = new ContextColumns();
  readonly #table: TableName;
  readonly #columns: readonly Column[];
  #rows = 0;
  #textBytes = 0;

  constructor(table: TableName, columns: Readonly<Record<string, Column>>) {
    this.#table = table;
    const all: Readonly<Record<string, Column>> = { ...columns, ...this.context.columns };
    this.#columns = otelTables[table].columns.map(({ name }) => {
      const column = all[name];
      if (column === undefined) throw new TypeError(`no column ${table}.${name}`);
      return column;
    });
  }

  /** Why a record with this time and these bytes of text is not kept, if so. */
  refusal({ now, oldest, limits, losses }: Intake, micros: number, bytes: number, what: string): string | undefined {
    if (micros > now + latestAhead) return 'time more than a week in the future; is it in nanoseconds?';
    if (micros < earliest) return 'time before the year 2000; is it in nanoseconds?';
    if (bytes + this.context.rowBytes > limits.recordBytes) return `a ${what} larger than the limit`;
    if (micros > now + dayMicros) losses.ahead += 1;
    else if (micros < oldest) losses.aged += 1;
    return undefined;
  }

  /** The other columns have their value of this row already; `bytes` of text are in them. */
  row(intake: Intake, bytes: number, own?: OtlpFields): void {
    this.context.row(own);
    this.#rows += 1;
    this.#textBytes += bytes + this.context.rowBytes;
    intake.accepted += 1;
    if (this.#rows < batchRows && this.#textBytes < batchTextBytes) return;
    this.flush(intake);
    this.context.again(intake);
  }

  flush(intake: Intake): void {
    if (this.#rows > 0) {
      const columns = this.#columns.map((column) => column.finish());
      const frame = writeFrame({ table: this.#table, rows: this.#rows, columns });
      intake.add({ table: this.#table, rows: this.#rows, textBytes: this.#textBytes, frame, crc: crc32(frame) });
    }
    this.reset();
  }

  reset(): void {
    this.#rows = 0;
    this.#textBytes = 0;
    for (const column of this.#columns) column.reset();
  }
}
