import { Session } from 'chdb';

/** Runs statements on the engine for the process that forked this one: a second directory needs a second process. */
const [, , directory, ...connectionArgs] = process.argv;
const session = new Session(directory, { connectionArgs });

process.on('message', (message) => {
  if (typeof message !== 'object' || message === null || !('sql' in message) || typeof message.sql !== 'string') return;
  try {
    process.send?.({ text: session.query(message.sql, 'JSONEachRow') });
  } catch (error) {
    process.send?.({ error: error instanceof Error ? error.message : String(error) });
  }
});
process.on('disconnect', () => session.close());
process.send?.({ text: '' });
