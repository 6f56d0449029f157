import pg from 'pg';

/** A text as PostgreSQL reads it, whatever is in it. */
export function literal(text: string): string {
  return pg.escapeLiteral(text);
}
