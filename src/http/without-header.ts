/** A flat list of headers without one of them. */
export function withoutHeader(headers: readonly string[], name: string): string[] {
  const kept: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== name) kept.push(String(headers[i]), String(headers[i + 1]))
  }
  return kept
}
