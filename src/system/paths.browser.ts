/** Without folders, names stay as given. */
export function resolve(...parts: readonly string[]): string {
  return parts.at(-1) ?? ''
}

export function join(...parts: readonly string[]): string {
  return parts.join('/')
}
