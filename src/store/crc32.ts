/** The CRC-32 of some bytes; `before` is that of those before them. node:zlib is loaded at the first one: in memory nobody asks. */
export function crc32(data: string | Uint8Array, before?: number): number {
  return process.getBuiltinModule('node:zlib').crc32(data, before)
}
