import type { Knex } from 'knex';
import { SightlineError } from '../../../src/contract/core/index.ts';
import type {
  BucketRepository,
  GatewayRepository,
  Portion,
  RunningGateway,
} from '../../../src/contract/storage/index.ts';
import { date, optional, pageSize, shortText } from '../columns.ts';
import type { RowIn } from '../rows.ts';
import type { Statements } from '../transact.ts';
import { DirectoryRepository } from './repository.ts';

const mostNames = 500;
const emptyAtOnce = 1_000;
/** Some three hundred years: no sum of these leaves the integers that are exact. */
const mostMilliseconds = 10 ** 13;
/** By which the clocks of gateways may differ: what one has just filled must not count as empty at another. */
const skewMs = 60_000;

export class Buckets extends DirectoryRepository implements BucketRepository {
  async read(sizes: ReadonlyMap<string, number>, now: Date): Promise<ReadonlyMap<string, Date>> {
    const names = [...sizes.keys()];
    checkNames(names);
    if (names.length === 0) return new Map();
    const rows = await this.database.read((knex) => full(knex, now).whereIn('name', names));
    return emptyAt(rows.filter(({ name, empty_at }) => Number(empty_at) <= latest(sizes.get(name), now)));
  }

  async list(prefix: string, size: number, now: Date, limit: number): Promise<ReadonlyMap<string, Date>> {
    checkNames([prefix]);
    const most = pageSize(limit);
    return this.database.read(async (knex) =>
      emptyAt(
        await startingWith(full(knex, now), prefix)
          .where('empty_at', '<=', latest(size, now))
          .orderBy([{ column: 'empty_at', order: 'desc' }, { column: 'name' }])
          .limit(most),
      ),
    );
  }

  async pour(portions: ReadonlyMap<string, Portion>, now: Date): Promise<ReadonlyMap<string, Date>> {
    // In one order everywhere, so that two gateways do not wait for each other.
    const names = [...portions.keys()].toSorted();
    checkNames(names);
    if (names.length === 0) return new Map();
    const time = now.getTime();
    const poured = names.map((name) => {
      const { amount, size } = portions.get(name) ?? { amount: 0, size: 0 };
      const [added, most, fullest] = [whole(amount), time + whole(size), latest(size, now)];
      const filled = `case when empty_at > ${most - added} then ${most} else empty_at + ${added} end`;
      const emptied = `empty_at <= ${time} or empty_at > ${fullest}`;
      return `when ? then case when ${emptied} then ${Math.min(time + added, most)} else ${filled} end`;
    });
    return this.database.write(async (knex) => {
      await knex('buckets')
        .insert(names.map((name) => ({ name, empty_at: 0 })))
        .onConflict('name')
        .ignore();
      // Numbers stand in the text, since PostgreSQL takes parameters of a CASE for texts; `whole` let nothing else through.
      await knex('buckets')
        .whereIn('name', names)
        .update({ empty_at: knex.raw(`case name ${poured.join(' ')} else empty_at end`, names) });
      return emptyAt(await full(knex, now).whereIn('name', names));
    });
  }

  async empty(names: readonly string[]): Promise<void> {
    checkNames(names);
    if (names.length === 0) return;
    await this.database.write((knex) => knex('buckets').whereIn('name', names).delete());
  }

  async emptyAll(prefix: string): Promise<void> {
    checkNames([prefix]);
    await this.database.write((knex) => startingWith(knex('buckets'), prefix).delete());
  }

  /** In small transactions, so that a large backlog does not block writers. */
  async removeEmpty(before: Date): Promise<void> {
    const time = before.getTime();
    for (;;) {
      const names = await this.database.read((knex) =>
        knex('buckets').where('empty_at', '<', time).orderBy('empty_at').limit(emptyAtOnce).pluck('name'),
      );
      // One that was filled again meanwhile stays.
      if (names.length > 0) {
        await this.database.write((knex) =>
          knex('buckets').whereIn('name', names).where('empty_at', '<', time).delete(),
        );
      }
      if (names.length < emptyAtOnce) return;
    }
  }
}

/** When a bucket of this size is empty at the latest, as long as clocks agree. */
function latest(size: number | undefined, now: Date): number {
  return now.getTime() + whole(size ?? 0) + skewMs;
}

function full(knex: Statements, now: Date) {
  return knex('buckets').where('empty_at', '>', now.getTime()).select('name', 'empty_at');
}

/** Names order by their code points, and `~` comes after all that they may have. */
function startingWith<Query extends Knex.QueryBuilder>(query: Query, prefix: string) {
  return query.where('name', '>=', prefix).where('name', '<', `${prefix}~`);
}

function emptyAt(rows: readonly Pick<RowIn<'buckets'>, 'name' | 'empty_at'>[]): ReadonlyMap<string, Date> {
  return new Map(rows.map(({ name, empty_at }) => [name, date(empty_at)]));
}

function checkNames(names: readonly string[]): void {
  if (names.length <= mostNames && names.every((name) => /^[\x20-\x7d]{1,200}$/.test(name))) return;
  throw new SightlineError('invalid_argument', 'Buckets have names of 1 to 200 printable ASCII characters.');
}

function whole(milliseconds: number): number {
  const rounded = Math.ceil(milliseconds);
  if (rounded >= 0 && rounded <= mostMilliseconds) return rounded;
  throw new SightlineError(
    'invalid_argument',
    'What is poured into a bucket, and its size, are numbers of milliseconds.',
  );
}

export class Gateways extends DirectoryRepository implements GatewayRepository {
  async announce({ id, host, telemetryIn, seenAt }: RunningGateway): Promise<void> {
    const row: RowIn<'gateways'> = {
      id: shortText('The id of a gateway', id, 40),
      host: shortText('The host of a gateway', host, 200),
      telemetry_in: telemetryIn === undefined ? null : shortText('The name of a data directory', telemetryIn, 40),
      seen_at: seenAt.getTime(),
    };
    await this.database.write((knex) => knex('gateways').insert(row).onConflict('id').merge());
  }

  list(since: Date): Promise<readonly RunningGateway[]> {
    return this.all((knex) => knex('gateways').where('seen_at', '>=', since.getTime()).orderBy('id'), toGateway);
  }

  async remove(id: string): Promise<void> {
    await this.database.write((knex) => knex('gateways').where({ id }).delete());
  }

  async removeUnseen(before: Date): Promise<void> {
    await this.database.write((knex) => knex('gateways').where('seen_at', '<', before.getTime()).delete());
  }
}

function toGateway({ id, host, telemetry_in, seen_at }: RowIn<'gateways'>): RunningGateway {
  return { id, host, ...optional('telemetryIn', telemetry_in, String), seenAt: date(seen_at) };
}
