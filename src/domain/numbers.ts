/** `1 pet`, `2 pets`. */
export function counted(count: number, singular: string): string {
  return `${count} ${pluralize(count, singular)}`
}

export function pluralize(count: number, singular: string): string {
  return count === 1 ? singular : `${singular}s`
}

export type Bytes = number

export const MIB: Bytes = 1024 * 1024

const SIZE = /^(\d{1,9})(B|KiB|MiB|GiB)$/
const UNITS = { GiB: 1024 * MIB, MiB: MIB, KiB: 1024, B: 1 } as const

/** `512KiB`, `256MiB`, `2GiB`; undefined for other text. */
export function parseSize(text: string): Bytes | undefined {
  const match = SIZE.exec(text)
  return match === null ? undefined : Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]
}

/** In the largest whole unit. */
export function formatSize(size: Bytes): string {
  const [unit, length] = Object.entries(UNITS).find(([, one]) => size >= one && size % one === 0) ?? ['B', 1]
  return `${size / length}${unit}`
}

/** `a, b or c` */
export function joinOr(values: readonly (string | number)[]): string {
  return values.length < 2 ? values.join() : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
}

/** `users 60, tasks 12`, or `no records`. Resources without records are left out; of many, the first are named. */
export function recordsText(records: Readonly<Record<string, number>>): string {
  const kept = Object.entries(records).filter(([, count]) => count > 0)
  const named = kept.slice(0, MAX_NAMED_RESOURCES).map(([name, count]) => `${name} ${count}`)
  const more = kept.length - named.length
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ') || 'no records'
}

const MAX_NAMED_RESOURCES = 4
