let zlib: typeof import('node:zlib') | undefined

/** Continues the CRC-32 `before`. Loads node:zlib on first use, because an in-memory start does not need it. */
export function crc32(data: string | Uint8Array, before?: number): number {
  zlib ??= process.getBuiltinModule('node:zlib')
  return zlib.crc32(data, before)
}

/** Of a whole file: CRC-32 and length. */
export class Checksum {
  #crc = 0
  bytes = 0

  constructor(start: Uint8Array = new Uint8Array()) {
    this.add(start)
  }

  add(part: Uint8Array): void {
    this.#crc = crc32(part, this.#crc)
    this.bytes += part.length
  }

  toString(): string {
    return `${this.#crc.toString(16).padStart(8, '0')}-${this.bytes}`
  }
}
