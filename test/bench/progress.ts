/** Tells who waits what is being measured; the table alone goes to stdout. */
export function say(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${what}`)
  else process.stderr.write(`${what}\n`)
}
