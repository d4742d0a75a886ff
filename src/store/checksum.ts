let zlib: typeof import('node:zlib') | undefined

/** The CRC-32 of some bytes, continuing from `before`. node:zlib is loaded on first use, because a start in memory needs none. */
export function crc32(data: string | Uint8Array, before?: number): number {
  zlib ??= process.getBuiltinModule('node:zlib')
  return zlib.crc32(data, before)
}

/** Identifies a document by its CRC-32 and its length in bytes. */
export class Checksum {
  #crc = 0
  bytes = 0

  add(part: Uint8Array): void {
    this.#crc = crc32(part, this.#crc)
    this.bytes += part.length
  }

  /** Passes pieces on while adding them. */
  *of(pieces: Iterable<Buffer>): Generator<Buffer> {
    for (const piece of pieces) {
      this.add(piece)
      yield piece
    }
  }

  toString(): string {
    return `${this.#crc.toString(16).padStart(8, '0')}-${this.bytes}`
  }
}
