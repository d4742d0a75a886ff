/** So many bytes. */
export type Bytes = number

export const MIB: Bytes = 1024 * 1024

const SIZE = /^(\d{1,9})(B|KiB|MiB|GiB)$/
const UNITS = { GiB: 1024 * MIB, MiB: MIB, KiB: 1024, B: 1 } as const

/**
 * Reads a size as users write it: a whole number and one unit (`512KiB 256MiB 2GiB`).
 *
 * @returns undefined for anything else
 */
export function parseSize(text: string): Bytes | undefined {
  const match = SIZE.exec(text)
  return match === null ? undefined : Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]
}

/** Writes a size in its largest whole unit, so that parseSize reads it back. */
export function formatSize(size: Bytes): string {
  const [unit, length] = Object.entries(UNITS).find(([, one]) => size >= one && size % one === 0) ?? ['B', 1]
  return `${size / length}${unit}`
}
