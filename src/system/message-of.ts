/** What a caught value says: an error's message, else the value itself as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
