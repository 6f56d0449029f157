import type { Engine } from './layouts/engine.ts';

/** The user may do everything, whatever users.xml said of it. */
export function everything(usersXml: string): string {
  return usersXml
    .replaceAll(/<readonly>.*?<\/readonly>/g, '')
    .replaceAll(/<allow_ddl>.*?<\/allow_ddl>/g, '')
    .replace(/<grants>.*<\/grants>/, '<grants><query>GRANT ALL ON *.*</query></grants>')
    .replace(/<databases>.*<\/databases>/, '');
}

/** The engine, but for these statements, which fail with this. */
export function failingAt(engine: Engine, asked: RegExp, message: string): Pick<Engine, 'rows'> {
  return {
    rows: async (sql) => {
      if (asked.test(sql)) throw new Error(message);
      return await engine.rows(sql);
    },
  };
}
