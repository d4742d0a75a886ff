/** In whose time the page shows instants. */
export type Zone = 'UTC' | 'local'

/** An instant whose UTC fields are those of the zone. */
function shifted(at: number, zone: Zone): Date {
  return new Date(zone === 'UTC' ? at : at - new Date(at).getTimezoneOffset() * 60_000)
}

/** `12:00:01`, or with its thousandths */
export function timeText(at: number, withMilliseconds = false, zone: Zone = 'UTC'): string {
  return shifted(at, zone)
    .toISOString()
    .slice(11, withMilliseconds ? 23 : 19)
}

/** `Sun, 1 Mar 2026` */
export function dateText(at: number, zone: Zone = 'UTC'): string {
  const [weekday, day, month, year] = shifted(at, zone).toUTCString().split(' ')
  return `${weekday} ${Number(day)} ${month} ${year}`
}

/** `2026-03-01` */
export function dayText(at: number, zone: Zone = 'UTC'): string {
  return shifted(at, zone).toISOString().slice(0, 10)
}

/**
 * Time left, for people: `0:42`, `4:05`, `1:00:00`, `2 d 3 h`.
 * Rounded up, so that 0:00 is shown only when it is over.
 */
export function countdownText(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000))
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${hours % 24} h`
  const two = (part: number) => String(part).padStart(2, '0')
  return hours === 0 ? `${minutes}:${two(seconds % 60)}` : `${hours}:${two(minutes % 60)}:${two(seconds % 60)}`
}
