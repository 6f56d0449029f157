import type { GatewayRepository, RunningGateway } from '../../../src/contract/storage/index.ts';
import { date, optional, shortText } from '../columns.ts';
import type { RowIn } from '../rows.ts';
import { DirectoryRepository } from './repository.ts';

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
