/** Text as it is compared where case does not matter, by our rule and not by a database's: names of organizations, e-mail addresses. */
export function foldCase(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
