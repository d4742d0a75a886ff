import { resolve } from 'node:path'
import type { Command } from 'commander'
import { buildRequest, requestTo } from '../client/build-request.js'
import type { Contract } from '../contract/contract.js'
import { EXAMPLE } from '../contract/generated/examples.js'
import { packagedContract } from '../contract/packaged-contract.js'
import { Failure } from '../domain/failures.js'
import { unknownOperation as unknownOperationText } from '../domain/suggest.js'
import { type DurationMs, parseDuration } from '../domain/time.js'
import { type Call, callOperation } from './call/call-operation.js'
import {
  addMethodCommands,
  addOperationCommand,
  addOwnFlags,
  DEFAULT_TIMEOUT_MS,
  type FlagNames,
  flagNames,
  GivenFlags,
} from './call/commands.js'
import { contractOfSandbox } from './call/served-contract.js'
import { listOperations } from './call/show.js'
import { addHelpCommand, explain } from './help.js'
import { type CliIo, EXIT } from './io.js'
import { print } from './print.js'

const EXAMPLES: readonly string[] = [
  'petstore-sandbox call --list',
  `petstore-sandbox call ${EXAMPLE.list} --limit 5 ${EXAMPLE.filter}`,
  `petstore-sandbox call GET '${EXAMPLE.path}?limit=5'`,
  `petstore-sandbox call ${EXAMPLE.create} --body @body.json`,
  `petstore-sandbox call ${EXAMPLE.list} -t staging --api-key-file staging.key`,
]

const NOTES = `\
Operations and their parameters come from the contract. For the details of one,
run: petstore-sandbox call <operation> --help

The body of a 2xx response goes to stdout. Any other response goes to stderr,
as one line of JSON, {"error":{…}}, unless stderr is a terminal.

Exit codes: 0 for 2xx, 1 failed, 2 usage error or a request that
breaks the contract, 3 4 5 for 3xx 4xx 5xx, 6 the response breaks the
contract (--check), 7 no response, 130 and 143 ended by SIGINT, SIGTERM.`

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  const flags = new GivenFlags()
  let contract = packagedContract()
  let lookedFor: DurationMs = 0
  explain(command, { examples: EXAMPLES, notes: NOTES })
    .usage('<operation|method path> [arguments] [options]')
    // The flags may belong to an operation that does not exist: then that is the error.
    .allowUnknownOption()
    .allowExcessArguments()
    .option('--list', 'print every operation, with its stability')
    .commandsGroup('Operations:')
    .action(async ({ list = false }: { readonly list?: boolean }) => {
      const [first] = command.args
      if (first !== undefined && !first.startsWith('-')) throw unknownOperation(first, contract)
      if (first !== undefined) command.error(`unknown option '${first}'`)
      else if (list) {
        await print(io.stdout, `${await listOperations(contract, flags.text('output'), io)}\n`)
        finish(EXIT.ok)
      } else command.help({ error: true })
    })
  addOwnFlags(command, flags, new Set())
  addOperations()

  function addOperations(): void {
    for (const operation of contract.operations) {
      addOperationCommand(command, operation, flags, (input, names) =>
        act((body) => buildRequest(operation, { ...input, body }), names),
      )
    }
    addMethodCommands(command, flags, (method, target) =>
      act((body) => requestTo(contract, method, target, body), new Map()),
    )
    addHelpCommand(command)
  }

  async function act(build: Call['build'], names: FlagNames): Promise<void> {
    finish(await callOperation({ contract, build, names, flags, lookedFor }, io))
  }

  // Commander looks up the operation before it reads the flags, so the contract must be loaded by then.
  command.parent?.hook('preSubcommand', async (program, next) => {
    const startedAt = io.monotonic()
    const chosen = next === command ? await chosenContract(program.args, io) : undefined
    lookedFor = io.monotonic() - startedAt
    if (chosen === undefined) return
    contract = chosen
    // Commander cannot remove commands.
    ;(command.commands as Command[]).splice(0)
    addOperations()
  })
}

const CHOOSING_FLAGS = ['spec', 'target', 'base-url']

/**
 * The contract of --spec, or of the sandbox to call; undefined for the packaged one. Its operation may have a parameter of
 * the name of such a flag: then the contract is read again by the --cli-… flags.
 */
async function chosenContract(args: readonly string[], io: CliIo): Promise<Contract | undefined> {
  const first = readContract(args, [], io)
  const given = CHOOSING_FLAGS.filter((name) => valueIn(args, name) !== valueIn(args, name, [name]))
  if (given.length === 0) return await first
  const known = ownNames(await first.catch(() => undefined), args)
  if (known !== undefined && !given.some((name) => known.includes(name))) return await first
  const again = await readContract(args, known ?? given, io).catch(() => undefined)
  return ownNames(again, args)?.some((name) => given.includes(name)) ? again : await first
}

/** Names of the flags of the operation to call; undefined if the contract does not have it. */
function ownNames(contract = packagedContract(), args: readonly string[]): readonly string[] | undefined {
  const operation = contract.operations.find(({ id }) => args.includes(id))
  return operation && [...flagNames(operation).values()]
}

/** @param taken names that are not ours */
async function readContract(
  args: readonly string[],
  taken: readonly string[],
  io: CliIo,
): Promise<Contract | undefined> {
  const file = valueIn(args, 'spec', taken)
  if (file !== undefined) {
    const { loadContract } = await import('../openapi/load-contract.js')
    return await loadContract(resolve(io.cwd, file), {
      isServed: false,
      name: file,
      patterns: 'native',
    })
  }
  const [target, baseUrl] = [valueIn(args, 'target', taken), valueIn(args, 'base-url', taken)]
  // Half of the time is left for the request.
  const limit = (parseDuration(valueIn(args, 'timeout', taken) ?? '') ?? DEFAULT_TIMEOUT_MS) / 2
  const isHelp = args.some((word) => word === '--help' || word === '-h')
  return await contractOfSandbox({ target, baseUrl }, io, { waits: !isHelp, limit })
}

/** The value of one of our flags before parsing: `--spec=x`, `--spec x`, `-t x` or `-tx`. */
function valueIn(args: readonly string[], name: string, taken: readonly string[] = []): string | undefined {
  const long = taken.includes(name) ? '--cli-' : '--(?:cli-)?'
  const flag = new RegExp(`^(?:${long}${name}(?:=|$)${name === 'target' ? '|-t' : ''})`)
  const end = args.indexOf('--')
  const own = end === -1 ? args : args.slice(0, end)
  const at = own.findLastIndex((word) => flag.test(word))
  const word = own[at]
  if (word === undefined) return undefined
  if (/^-\w./.test(word)) return word.slice(2)
  return word.includes('=') ? word.slice(word.indexOf('=') + 1) : own[at + 1]
}

function unknownOperation(name: string, { operations }: Contract): Failure {
  const known = operations.map(({ id }) => id)
  return new Failure('UNKNOWN_OPERATION', [`${unknownOperationText(name, known)} --list shows all.`])
}
