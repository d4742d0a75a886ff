export function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `retry-after` to `retryAfter`; anything but kebab-case is left alone. */
export function toCamelCase(key: string): string {
  return /^[a-z]+(?:-[a-z]+)+$/.test(key) ? key.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()) : key
}
