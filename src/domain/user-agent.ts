/** Browsers by what only they have: most also name those that they are compatible with. */
const BROWSERS: readonly (readonly [token: RegExp, name: string])[] = [
  [/Edg(?:A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const MAX_LENGTH = 40

/** `curl` of `curl/8.5.0`. */
export function productOf(userAgent: string): string {
  const [, browser] = BROWSERS.find(([token]) => token.test(userAgent)) ?? []
  return browser ?? userAgent.split(/[/\s]/, 1).join('').slice(0, MAX_LENGTH)
}
