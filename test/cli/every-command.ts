import { expect } from 'vitest'
import { runCli } from '../../src/cli/run-cli.js'
import { testIo } from './test-io.js'

const helps = new Map<string, string>()

/** The help of a command on a terminal with this number of columns. */
export async function helpOf(path: readonly string[], columns = 80): Promise<string> {
  const name = `${path.join(' ')} ${columns}`
  const known = helps.get(name)
  if (known !== undefined) return known
  const io = testIo()
  io.stdout.columns = columns
  expect(await runCli([...path, '--help'], io), name).toBe(0)
  helps.set(name, io.stdout.text)
  return io.stdout.text
}

/** Every command there is, by the words that lead to it; `help` left out. */
export async function everyCommand(path: readonly string[] = []): Promise<readonly (readonly string[])[]> {
  const [, list = ''] = /\n(?:Commands|Operations):\n(.*?)\n\n/s.exec(await helpOf(path)) ?? []
  const names = [...list.matchAll(/^ {2}([\w-]+) /gm)].map(([, name = '']) => name).filter((name) => name !== 'help')
  const below = await Promise.all(names.map((name) => everyCommand([...path, name])))
  return [path, ...below.flat()]
}
