import type { Command } from 'commander'
import { explain } from '../help.js'
import { addOwnFlags, type GivenFlags } from './own-flags.js'

/** Methods of a request. HEAD is that of the operation which GET has. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Lets a request be written as documents write it: `call GET /pets?limit=2`. An operation of such a name comes first. */
export function addMethodCommands(
  parent: Command,
  given: GivenFlags,
  act: (method: string, target: string) => Promise<void>,
): void {
  const taken = new Set(parent.commands.map((command) => command.name()))
  for (const method of METHODS) {
    if (taken.has(method)) continue
    const command = parent
      .command(method, { hidden: true })
      .description(`send a ${method} request to a path of the contract`)
      .argument('<path>', 'below the base address, with its query')
      .allowExcessArguments(false)
      .action((target: string) => act(method, target))
    const alias = method.toLowerCase()
    if (!taken.has(alias)) command.alias(alias)
    const options = addOwnFlags(command, given, new Set())
    explain(command, {
      examples: [`petstore-sandbox call ${method} '/pets?limit=2'`],
      elsewhere: { title: 'Options of every call', options, command: 'petstore-sandbox call' },
    })
  }
}
