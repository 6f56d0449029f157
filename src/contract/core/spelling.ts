/** Names longer than this are compared by their beginning: the comparison is quadratic. */
const comparedLength = 64;

/** A name as it is compared. */
export function comparable(name: string): string {
  return snakeCase(name.slice(0, comparedLength));
}

/** `SpanName`, `spanName`, `span-name`, `span.name` and `"span name"` are all `span_name`. */
export function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_|_$/g, '');
}

/** Of two comparable names, 0 to 1: letters that agree, or words that agree, whichever says more. */
export function similarity(a: string, b: string): number {
  if (a === b) return 1;
  const longest = Math.max(a.length, b.length);
  if (longest === 0) return 0;
  const letters = 1 - editDistance(a, b) / longest;
  const wordsOfA = new Set(a.split('_'));
  const wordsOfB = new Set(b.split('_'));
  let shared = 0;
  for (const word of wordsOfA) if (wordsOfB.has(word)) shared += 1;
  const words = (2 * shared) / (wordsOfA.size + wordsOfB.size);
  return Math.min(0.99, Math.max(letters, words * 0.9, (letters + words) / 2));
}

/** Optimal string alignment: insert, delete, replace, or swap two neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let best = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, at(beforeLast, column - 2) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

/** The candidate nearest to a misspelt name; undefined where none is near. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = comparable(name);
  let best: string | undefined;
  let most = 0.5;
  for (const candidate of candidates) {
    const score = similarity(wanted, comparable(candidate));
    if (score < most || (score === most && best !== undefined)) continue;
    best = candidate;
    most = score;
  }
  return best;
}
