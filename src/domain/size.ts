const SIZE = /^(\d{1,9})(B|KiB|MiB|GiB)$/
const UNITS = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024, B: 1 } as const

/**
 * Reads a size as users write it: a whole number and one unit (`512KiB 256MiB 2GiB`).
 *
 * @returns bytes, or undefined for anything else
 */
export function parseSize(text: string): number | undefined {
  const match = SIZE.exec(text)
  return match === null ? undefined : Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]
}

/** Writes a size in its largest whole unit, so that parseSize reads it back. */
export function formatSize(bytes: number): string {
  for (const [unit, length] of Object.entries(UNITS))
    if (bytes % length === 0 && bytes > 0) return `${bytes / length}${unit}`
  return '0B'
}
