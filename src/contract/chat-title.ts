const titleLength = 80;

/** What a chat is called that was begun with this message and no title: its beginning, in one line. */
export function chatTitle(message: string): string {
  const line = message.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length <= titleLength ? line : `${line.slice(0, titleLength - 1).replace(/[\u{D800}-\u{DBFF}]$/u, '')}…`;
}
