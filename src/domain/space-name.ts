/** Not `.` and `..`: no address could name them, as every client takes them out of a path. */
const SPACE_NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/

export function isSpaceName(name: string): boolean {
  return SPACE_NAME.test(name)
}
