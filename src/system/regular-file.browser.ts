export class UnusableFile extends Error {
  override readonly name = 'UnusableFile'
}

export function readRegularFile(_file: string, _most?: number): Uint8Array {
  throw new UnusableFile('a browser has no files')
}

export function describeOpenError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
