/** Whether a reply asks the agent to stop and says nothing else. */
export function asksToCancel(message: string): boolean {
  return /^\s*(?:please\s+)?(?:cancel|stop)(?:\s+(?:it|this|that|please))?\s*[.!]*\s*$/i.test(message.slice(0, 100));
}
