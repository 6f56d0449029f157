import { randomBytes } from 'node:crypto';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import type { MysqlServer } from '../../test/support/mysql.ts';
import type { PostgresServer } from '../../test/support/postgres.ts';

/*
 * Another program on the same server that takes every connection it can get, and each that becomes free. Whoever
 * administers the server keeps the few that it reserves.
 */

const againMs = 20;
const login = `stranger_${randomBytes(4).toString('hex')}`;
const password = randomBytes(8).toString('hex');

export async function postgresStranger(server: PostgresServer): Promise<() => Promise<void>> {
  await server.admin(`DROP ROLE IF EXISTS ${login}; CREATE ROLE ${login} LOGIN PASSWORD '${password}'`);
  return greedy(async () => {
    const client = new Client({ connectionString: server.url('postgres', login, password) });
    client.on('error', () => {});
    await client.connect();
    return () => client.end();
  });
}

export async function mysqlStranger(server: MysqlServer): Promise<() => Promise<void>> {
  await server.admin(`CREATE OR REPLACE USER ${login} IDENTIFIED BY '${password}'`);
  return greedy(async () => {
    const connection = await createConnection({ uri: server.url('', login, password) });
    connection.on('error', () => {});
    return () => connection.end();
  });
}

/** Resolves when the first connection was refused. */
async function greedy(take: () => Promise<() => Promise<void>>): Promise<() => Promise<void>> {
  const taken: (() => Promise<void>)[] = [];
  const takeAll = async (): Promise<void> => {
    for (;;) {
      const giveBack = await take().catch(() => undefined);
      if (giveBack === undefined) return;
      taken.push(giveBack);
    }
  };
  await takeAll();
  let left = false;
  const taking = (async () => {
    while (!left) {
      await takeAll();
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  })();
  return async () => {
    left = true;
    await taking;
    await Promise.all(taken.map((giveBack) => giveBack().catch(() => {})));
  };
}
