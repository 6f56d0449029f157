/** Names beyond these are not told: strangers choose them. */
const most = 100;

/** Tells of each name once, for a log that strangers must not fill. */
export function onceEach(tell: (name: string) => void): (name: string | undefined) => void {
  const seen = new Set<string>();
  return (given = '') => {
    const name = given.slice(0, 255);
    if (seen.size >= most || seen.has(name)) return;
    seen.add(name);
    tell(name);
  };
}
