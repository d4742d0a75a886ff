import { ControlError } from '../control/control-error.js'
import type { OperationHandler } from '../control/handlers.js'
import type { VerbName } from '../control/verb-map.js'
import type { VerbRoute } from '../control/verb-request.js'
import type { StateView } from '../control/views.js'
import type { Exchange } from '../exchanges/exchange-record.js'
import { quoted } from '../options/problem.js'
import { lazily } from '../system/lazily.js'
import type { RequestFilter } from './inputs.js'

export interface Transport {
  /** @param space empty for the default space @throws ControlError if the verb refuses */
  call(verb: string, space: string, input?: object): Promise<unknown>
  /** The state, after all requests that were sent before. Default: that of the verb. @throws ControlError */
  look?(space: string): Promise<StateView>
  /** @param space empty for all that have none of their own @throws ControlError */
  handle(space: string, operation: string, handler: OperationHandler): Promise<void>
  /** Exchanges as they end, until the signal is aborted or the sandbox stops. */
  follow(space: string, filter: RequestFilter, signal?: AbortSignal): AsyncIterable<Exchange>
}

/** A method of a verb, as scripts/generate-methods.ts writes it. */
export interface Method {
  readonly verb: string
  /** Default: that of the verb. */
  readonly name?: string
  /** Fields of the input that are given by position. Undefined without an input: arguments are ignored, as a hook of a test runner passes some. */
  readonly args?: readonly string[]
  /** Fields that the caller does not give, or may leave out. */
  readonly given?: object
}

export type MakeMethod = (method: Method) => (...values: unknown[]) => Promise<never>

export function methodMaker(transport: Transport, space: string): MakeMethod {
  return ({ verb, name = verb, args, given = {} }) =>
    async (...values) => {
      try {
        const input = args === undefined ? {} : readArguments(await routeOf(verb), args, values, name)
        return (await callInSpace(transport, verb, space, { ...given, ...input })) as never
      } catch (error) {
        if (!(error instanceof ControlError) || error.example === undefined || args === undefined) throw error
        // A page that only sends requests does not need the examples.
        const { METHOD_EXAMPLES } = await import('./generated/method-examples.js')
        throw new ControlError(error.code, `${error.message} Example: ${METHOD_EXAMPLES[name]}.`)
      }
    }
}

/** Reads arguments by position, or from an object: `ban('sandbox', '30s')`, `ban('sandbox', { for: '30s' })`. */
function readArguments({ body }: VerbRoute, args: readonly string[], values: readonly unknown[], name: string): object {
  const input: Record<string, unknown> = {}
  for (const [index, value] of values.entries()) {
    const field = args[index]
    if (value === undefined) continue
    const isLast = index === values.length - 1
    if (isLast && (field === undefined || field !== body) && isObject(value)) Object.assign(input, value)
    else if (field !== undefined) input[field] = value
    else {
      const most = args.length === 0 ? 'an object' : `${args.length} argument${args.length === 1 ? '' : 's'}`
      throw invalid(`${name} takes ${most}, got ${values.length === 1 ? quoted(value) : values.length}.`)
    }
  }
  for (const [field, value] of Object.entries(input)) if (value instanceof Date) input[field] = dateText(value)
  return input
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

function dateText(date: Date): string {
  return Number.isNaN(date.getTime()) ? String(date) : date.toISOString()
}

/** Checks the fields of a verb's path, and calls it. @throws ControlError */
export async function callInSpace(
  transport: Transport,
  verb: string,
  space: string,
  input: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const { path } = await routeOf(verb)
  for (const [, field = ''] of path.matchAll(/\{(\w+)\}/g)) checkPathField(field, input[field])
  return await transport.call(verb, space, input)
}

/** A page that only sends requests does not need the routes. */
const routes = lazily(() => import('../control/generated/verb-routes.js'))

async function routeOf(verb: string): Promise<VerbRoute> {
  return (await routes()).verbRoutes[verb as VerbName]
}

/** Over the network, any value would become a part of the path. */
function checkPathField(field: string, value: unknown): void {
  if (value === undefined || value === '') throw invalid(`"${field}" is missing.`)
  const isId = field === 'id' && (typeof value === 'number' || typeof value === 'bigint')
  if (typeof value !== 'string' && !isId) throw invalid(`"${field}" must be a string, got ${quoted(value)}.`)
  // An address would leave them out.
  if (value === '.' || value === '..') throw invalid(`"${field}" cannot be "${value}".`)
}

function invalid(message: string): ControlError {
  return new ControlError('invalid_request', message, '')
}
