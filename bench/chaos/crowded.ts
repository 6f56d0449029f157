import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../../src/contract/core/index.ts';

/** What PostgreSQL and MySQL say where every connection is taken. */
const crowded: ReadonlySet<unknown> = new Set(['53300', 'ER_CON_COUNT_ERROR', 'ER_TOO_MANY_USER_CONNECTIONS']);
const tries = 100;
const againMs = 100;

interface Administered {
  admin(sql: string, database?: string): Promise<readonly (readonly unknown[])[]>;
}

/**
 * The same server, whose administrator stands in line where a stranger has taken all connections: one question at a time, since
 * MySQL keeps a single connection for it, and asked again while even that one is not free.
 */
export function inLine<Server extends Administered>(server: Server): Server {
  let last: Promise<unknown> = Promise.resolve();
  const patient: Administered['admin'] = async (sql, database) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await server.admin(sql, database);
      } catch (error) {
        if (attempt === tries || !crowded.has(errorCode(error))) throw error;
        await sleep(againMs);
      }
    }
  };
  return {
    ...server,
    admin(sql, database) {
      const answer = last.then(() => patient(sql, database));
      last = answer.catch(() => undefined);
      return answer;
    },
  };
}
