/** Escapes of half a character, which ClickHouse refuses with the whole insert, as U+FFFD. */
export function wellFormedJson(json: string): string {
  const text = json.isWellFormed() ? json : json.toWellFormed();
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  return text.replaceAll(
    /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|[^])/g,
    (escape) => (/^\\u[dD]/.test(escape) && escape.length === 6 ? String.raw`\ufffd` : escape),
  );
}

/** Events whose times lie beyond what the table can hold, which ClickHouse refuses with the whole insert, at its ends. */
export function withStorableTimes(json: string): string {
  if (!/"time":"(?!19|20|21|22[0-5])/.test(json)) return json;
  const events: unknown = JSON.parse(json);
  if (!Array.isArray(events)) return json;
  for (const event of events) {
    const held: unknown = event;
    if (typeof held === 'object' && held !== null && 'time' in held) held.time = storable(String(held.time));
  }
  return JSON.stringify(events);
}

function storable(time: string): string {
  const year = Number(/^([+-]?\d+)-/.exec(time)?.[1] ?? Number.NaN);
  if (Number.isNaN(year)) return '1970-01-01T00:00:00Z';
  return year < 1900 ? '1900-01-01T00:00:00Z' : year > 2261 ? '2262-01-01T00:00:00Z' : time;
}
