const BROWSERS = /\b(Firefox|Edg|Chrome|Safari)\//
const MAX_LENGTH = 40

/** `curl` of `curl/8.5.0`; browsers name themselves last. */
export function productOf(userAgent: string): string {
  const [, browser] = BROWSERS.exec(userAgent) ?? []
  return browser ?? userAgent.split(/[/\s]/, 1).join('').slice(0, MAX_LENGTH)
}
