import { type Command, Option } from 'commander'
import type { CallInput } from '../../client/build-request.js'
import type { Operation } from '../../contract/contract.js'
import type { Expected, Field, Parameter } from '../../contract/contract-data.js'
import { explain } from '../help.js'
import { addOwnFlags, type GivenFlags } from './flags.js'

type OperationInput = Omit<CallInput, 'body'>

export type FlagNames = ReadonlyMap<Parameter | Field, string>

// Path parameters become arguments, query parameters and body fields flags. The contract checks their values, so that
// all problems are reported at once.
export function addOperationCommand(
  parent: Command,
  operation: Operation,
  given: GivenFlags,
  act: (input: OperationInput, flags: FlagNames) => Promise<void>,
): void {
  const command = parent
    .command(operation.id)
    .summary(summaryOf(operation))
    .description(
      [`${summaryOf(operation)}: ${operation.method} ${operation.path}`, operation.description ?? []]
        .flat()
        .join('\n\n'),
    )
    // Inherited from the parent, which allows them.
    .allowExcessArguments(false)
  for (const parameter of operation.parameters)
    if (parameter.in === 'path') command.argument(`<${parameter.name}>`, aboutOf(parameter))

  const names = flagNames(operation)
  const query = new Map<Parameter, string[]>()
  const fields = new Map<Field, string[]>()
  for (const [one, name] of names) {
    const option = new Option(`--${name} <${placeholder(one)}>`, aboutOf(one))
    if (one.type === 'array') option.argParser((text) => text)
    command.addOption(option.helpGroup('in' in one ? 'Parameters:' : 'Body:'))
    command.on(`option:${option.name()}`, (text: string) => {
      if ('in' in one) query.set(one, [...(query.get(one) ?? []), text])
      else fields.set(one, [...(fields.get(one) ?? []), text])
    })
  }
  addSharedFlags(command, given, new Set(names.values()), exampleOf(operation, names))
  command.action(() => act({ path: command.args, query, fields }, names))
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** `call GET /pets?limit=2`. An operation with the name of a method has precedence. */
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
    if (!taken.has(method.toLowerCase())) command.alias(method.toLowerCase())
    addSharedFlags(command, given, new Set(), `petstore-sandbox call ${method} '/pets?limit=2'`)
  }
}

function addSharedFlags(command: Command, given: GivenFlags, taken: ReadonlySet<string>, example: string): void {
  const options = addOwnFlags(command, given, taken)
  const elsewhere = { title: 'Options of every call', options, command: 'petstore-sandbox call' }
  explain(command, { examples: [example], elsewhere })
}

/** Names flags after parameters and fields, in kebab-case. If a name is taken, `query-` or `body-` is put in front. */
function flagNames({ parameters, body }: Operation): FlagNames {
  const names = new Map<Parameter | Field, string>()
  const taken = new Set<string>()
  const take = (one: Parameter | Field, kind: string) => {
    const kebab = kebabCase(one.name)
    let name = kebab
    for (let count = 1; taken.has(name); count++) name = `${kind}-${kebab}${count === 1 ? '' : `-${count}`}`
    taken.add(name)
    names.set(one, name)
  }
  for (const parameter of parameters) if (parameter.in === 'query') take(parameter, 'query')
  for (const field of body?.fields ?? []) take(field, 'body')
  return names
}

/** `categoryId` to `category-id`. Characters that a flag cannot have become dashes. */
function kebabCase(name: string): string {
  const kebab = name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .toLowerCase()
  return kebab === '' ? 'parameter' : kebab
}

function placeholder({ type, itemType }: Expected): string {
  const kind = type === 'array' ? (itemType ?? 'string') : type
  return kind === 'other' ? 'json' : kind
}

function summaryOf({ id, summary, deprecated, stability }: Operation): string {
  const marks = [deprecated ? 'deprecated' : [], stability ?? []].flat()
  return `${summary ?? id}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`
}

function aboutOf(one: Parameter | Field): string {
  const { description, wording, default: fallback, required } = one
  const remarks = [
    wording ?? [],
    one.type === 'array' ? 'repeatable' : [],
    fallback === undefined ? [] : `default: ${String(fallback)}`,
    required && !('in' in one && one.in === 'path') ? 'required' : [],
  ].flat()
  return `${description ?? one.name}${remarks.length === 0 ? '' : ` (${remarks.join('; ')})`}`.replace(/\s+/g, ' ')
}

function exampleOf({ id, parameters, body }: Operation, names: FlagNames): string {
  const words = ['petstore-sandbox call', id]
  for (const one of parameters) {
    const example = one.example ?? one.enum?.[0]
    if (example === undefined) continue
    words.push(one.in === 'path' ? String(example) : `--${names.get(one)} ${String(example)}`)
  }
  const values: Readonly<Record<string, unknown>> = body?.example === undefined ? {} : Object(JSON.parse(body.example))
  for (const field of body?.fields ?? []) {
    const value = Object.hasOwn(values, field.name) ? String(values[field.name]) : undefined
    if (value !== undefined && /^[\w.-]+$/.test(value)) words.push(`--${names.get(field)} ${value}`)
  }
  return words.join(' ')
}
