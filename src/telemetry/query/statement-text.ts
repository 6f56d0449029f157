import { SightlineError } from '../../contract/core/index.ts';

/** Refuses what no parser should see: nothing, too much, NUL (parsers disagree on it), and text that is not Unicode. */
export function checkText(sql: string, maxBytes: number): void {
  if (sql.length > maxBytes || Buffer.byteLength(sql) > maxBytes) {
    throw new SightlineError('sql_too_large', `The statement is over ${maxBytes} bytes.`, {
      hint: 'Shorten it: long IN lists can often be a join, a range or a LIKE.',
    });
  }
  const nul = sql.indexOf('\0');
  if (nul >= 0) {
    throw new SightlineError('sql_syntax', 'The statement contains a NUL character.', { position: nul + 1 });
  }
  if (!sql.isWellFormed()) {
    throw new SightlineError('sql_syntax', 'The statement contains half of a surrogate pair, which is no character.');
  }
  if (sql.trim() === '') {
    throw new SightlineError('sql_syntax', 'The statement is empty.', {
      hint: 'Start with SHOW TABLES, DESCRIBE otel.spans, or SELECT … FROM otel.spans.',
    });
  }
}
