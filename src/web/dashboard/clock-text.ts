/** `12:00:01`, UTC, or with its thousandths */
export function timeText(at: number, withMilliseconds = false): string {
  return new Date(at).toISOString().slice(11, withMilliseconds ? 23 : 19)
}

/** `Sun, 1 Mar 2026`, UTC */
export function dateText(at: number): string {
  const [weekday, day, month, year] = new Date(at).toUTCString().split(' ')
  return `${weekday} ${Number(day)} ${month} ${year}`
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
