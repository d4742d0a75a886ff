export class UnusableFile extends Error {
  override readonly name = 'UnusableFile'
}

export function readRegularFile(_file: string, _most?: number): Uint8Array {
  throw new UnusableFile('a browser has no files')
}

export function describeOpenError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
/** Without folders, names stay as given. */
export function resolve(...parts: readonly string[]): string {
  return parts.at(-1) ?? ''
}

export function join(...parts: readonly string[]): string {
  return parts.join('/')
}
