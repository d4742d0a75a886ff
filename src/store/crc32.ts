/** The CRC-32 of some bytes, continuing from `before`. node:zlib is loaded on first use, as nothing needs it in memory. */
export function crc32(data: string | Uint8Array, before?: number): number {
  zlib ??= process.getBuiltinModule('node:zlib')
  return zlib.crc32(data, before)
}

let zlib: typeof import('node:zlib') | undefined
