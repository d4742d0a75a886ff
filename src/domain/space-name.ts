/** Not `.` or `..`: no URL could name them, because every client resolves them. */
const SPACE_NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/

export function isSpaceName(name: string): boolean {
  return SPACE_NAME.test(name)
}
