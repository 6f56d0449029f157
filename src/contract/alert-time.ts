const hour = 3_600_000;
const oldest = 10 * 365 * 24 * hour;

/** A time as senders write it: RFC 3339 with its offset, or milliseconds since 1970 in digits. Undefined for anything else. */
export function alertTime(text: string | null | undefined): Date | undefined {
  const written = text?.trim() ?? '';
  if (/^\d{12,14}$/.test(written)) return new Date(Number(written));
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,12})?(Z|[+-]\d\d:\d\d)$/i.test(written)) return undefined;
  const time = new Date(written);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/**
 * The time, unless it cannot be meant: older than ten years (Go's zero time is of the year 1), or more than an hour ahead,
 * which no clock of a sender is.
 */
export function plausibleTime(time: Date | undefined, now: Date): Date | undefined {
  const age = time && now.getTime() - time.getTime();
  return age !== undefined && age <= oldest && age >= -hour ? time : undefined;
}
