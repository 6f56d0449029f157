import { createConnection, type Connection, type RowDataPacket } from 'mysql2';
import type { Row } from '../dialect.ts';
import type { Link, LookupStatement } from '../server/lookups.ts';
import { lookupMs, type ServerSettings } from '../server/settings.ts';
import { driverOptions } from './client.ts';
import { isLost, told } from './errors.ts';
import { prepareSession } from './session.ts';

export async function openLink(settings: ServerSettings): Promise<Link> {
  const connection = createConnection(driverOptions(settings));
  const link = new MysqlLink(connection);
  try {
    await new Promise<void>((resolve, reject) => {
      connection.connect((error) => (error === null ? resolve() : reject(error)));
    });
    await prepareSession(connection, 'lookup', settings);
    return link;
  } catch (error) {
    link.abandon();
    throw told(error);
  }
}

class MysqlLink implements Link {
  usable = true;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.on('error', () => this.abandon());
    connection.on('end', () => (this.usable = false));
  }

  /** The driver keeps a prepared statement for each text. */
  first({ sql }: LookupStatement, values: readonly string[]): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      this.#connection.execute<RowDataPacket[]>({ sql, values: [...values], timeout: lookupMs }, (caught, rows) => {
        if (caught === null) return resolve(rows[0]);
        const error = told(caught);
        if (isLost(error)) this.abandon();
        reject(error);
      });
    });
  }

  close(): Promise<void> {
    if (!this.usable) return Promise.resolve();
    this.usable = false;
    return new Promise((resolve) => {
      this.#connection.end(() => resolve());
    });
  }

  abandon(): void {
    this.usable = false;
    this.#connection.destroy();
  }
}
