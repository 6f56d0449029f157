/** What queries read of the warehouse, counted by day. All gateways over one storage count together. */
export interface ScanRepository {
  /**
   * Adds to the day's count and answers the new total. Negative gives back what was counted and not read; the total never
   * falls below 0, and never passes Number.MAX_SAFE_INTEGER.
   * @param day UTC, `2026-01-31`.
   * @param bytes an integer.
   */
  add(day: string, bytes: number): Promise<number>;
  /** 0 for a day of which nothing is known. */
  total(day: string): Promise<number>;
}
