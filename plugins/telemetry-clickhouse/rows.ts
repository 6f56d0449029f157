/** Runs one statement of ours and answers its rows by column name; 64-bit integers may come as text. */
export type Rows = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
