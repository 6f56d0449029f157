import { SightlineError } from '../../contract/core/index.ts';

const quotes = /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`\\]|\\.|``)*`/gs;
const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * Refuses SQL of the config that does not end where it ends: it stands amid the organization's predicate and the caller's
 * SQL, and a comment or a bracket left open would reach into them. Throws config_invalid naming `key`.
 */
export function checkFragment(sql: string, key: string): void {
  const bare = sql.replaceAll(quotes, ' ');
  const why = /--|\/\*/.test(bare)
    ? 'holds a comment'
    : bare.includes(';')
      ? 'holds a semicolon'
      : /['"`]/.test(bare)
        ? 'holds a quote that is not closed'
        : isBalanced(bare)
          ? undefined
          : 'holds a bracket without its other half';
  if (why === undefined) return;
  throw new SightlineError('config_invalid', `${key} ${why}.`, {
    hint: 'Write one whole expression of the warehouse; it is put between others.',
  });
}

function isBalanced(sql: string): boolean {
  const open: string[] = [];
  for (const sign of sql) {
    const close = Object.hasOwn(closing, sign) ? closing[sign] : undefined;
    if (close !== undefined) open.push(close);
    else if (/[)\]}]/.test(sign) && open.pop() !== sign) return false;
  }
  return open.length === 0;
}
