import * as v from 'valibot'
import type { VerbCommand } from '../core/command.js'
import type { Space } from '../core/space.js'
import type { SnapshotStore } from '../core/space-context.js'
import type { ApplyVerb, Spaces } from '../core/spaces.js'
import type { FaultRule } from '../domain/faults.js'
import { isSpaceName, NAME_FORM } from '../domain/keys.js'
import type { Reply } from '../domain/messages.js'
import type { ProblemCode } from '../domain/problems.js'
import type { StoredState } from '../domain/state.js'
import { didYouMean } from '../domain/suggest.js'
import type { EpochMs } from '../domain/time.js'
import { formatIssues, helpfulIssues, type Path, pathText, quoted } from '../options/problem.js'
import { type ParseResult, strictMap } from '../options/values/reading.js'
import { ControlError } from './control-error.js'
import { type VerbRoute, verbRequest } from './verb-request.js'
import type { ReplicaView } from './views.js'

export interface ControlTarget {
  readonly spaces: Spaces
  /** Snapshots on disk; undefined if the space keeps them in memory. */
  snapshotsOf(space: Space): SnapshotStore | undefined
  /** Resolves once the changes are stored. @throws as `applyVerb`, or if the changes were rolled back */
  change(command: VerbCommand, applyVerb: ApplyVerb): Promise<{ readonly output: unknown; readonly wall: EpochMs }>
  /** Reads a state that includes every acknowledged change. Resolves once that state is stored. */
  read<T>(act: (wall: EpochMs) => T): Promise<T>
  /** Empty without a group. */
  replicas(now: EpochMs): readonly ReplicaView[]
  /** Aborted when the sandbox stops; ends endless responses. */
  readonly stopping: AbortSignal
  /** Sends a request to the service in this process. @param replied called before the reply is sent */
  send(request: Request, replied: (reply: Reply) => void): Promise<Response>
  shutdown(): void
  readFixtures(): StoredState
  /** @throws OptionsError for a body that breaks the contract, with `strict` */
  checkFaults(faults: readonly FaultRule[]): Promise<void>
  onVerb?(done: VerbDone): void
}

export interface VerbDone {
  readonly space: string
  readonly name: string
  /** May contain a real API key. */
  readonly input: unknown
  readonly output: unknown
  /** One sentence, with labels in place of keys. */
  readonly text: string
  readonly at: EpochMs
}

export interface VerbFiles extends Pick<ControlTarget, 'readFixtures' | 'checkFaults'> {
  readonly snapshots: SnapshotStore | undefined
  /** @throws VerbError for an unknown space */
  read(): Promise<VerbContext>
}

export interface LocalContext extends Pick<VerbFiles, 'snapshots' | 'read'> {
  readonly target: ControlTarget
}

export interface VerbContext {
  readonly space: Space
  readonly spaces: Spaces
  /** Only for verbs that read. */
  readonly replicas?: readonly ReplicaView[]
  /** Read once: verbs do not read clocks. */
  readonly wall: EpochMs
  /** What `useFiles` returned. */
  readonly files?: unknown
}

export interface Verb<Input = unknown, Output = unknown> extends VerbRoute {
  /** In the imperative, without a final stop. */
  readonly summary: string
  /** More sentences for the documentation, in Markdown. */
  readonly details?: string
  /** Schema of path parameters, query and fields of a JSON body together. */
  readonly input?: v.GenericSchema<unknown, Input>
  /** The fields that a program gives by position, and a command as arguments. Default: all, in their order. */
  readonly args?: readonly string[]
  /** Path of the method in a program. Default: the name of the verb. */
  readonly methodName?: string
  /** The method belongs to the sandbox, not to each of its spaces. */
  readonly isOfSandbox?: true
  /** Syntax below `control`: `clock advance <duration>`. */
  readonly command?: string
  /** Fields that a program or a command may leave out of a path. */
  readonly defaults?: object
  /** An input for the documentation, and for the messages about an invalid one. */
  readonly example?: object
  /** Default: what it has changed can be undone for one minute. */
  readonly canUndo?: false
  /** Who has set the switches that it changes. Default: you. Undefined if the state that it restores has its own. */
  origin?(input: Input): string | undefined
  /** With an unknown key the verb changes nothing. It may be a real key, which must not get into the log of replicas. */
  hasUnknownKey?(space: Space, input: Input): boolean
  /** Reads or writes files before it runs. @returns what it reads from `files` @throws VerbError */
  useFiles?(files: VerbFiles, input: Input): Promise<unknown>
  /**
   * Runs the verb in this process, outside the core: it sends requests, or uses the snapshots on disk.
   * @returns undefined if the verb has to run in the core
   * @throws VerbError
   */
  runOutsideCore?(local: LocalContext, input: Input): Promise<Output | undefined>
  /** Depends only on its arguments. If it throws, what it has changed is taken back. @throws VerbError */
  run(context: VerbContext, input: Input): Output
  /** One sentence for the log and the terminal. The input is as it was given, without its key, which may be real. */
  text?(output: Output, input: Readonly<Record<string, unknown>>): string
}

export class VerbError extends ControlError {
  declare readonly code: ProblemCode

  constructor(code: ProblemCode, message: string, example?: string) {
    // A suggestion ends in a question mark.
    super(code, message.replace(/\?\.$/, '?'), example)
  }
}

type Route = Pick<Verb, 'method' | 'path' | 'summary'>
type Definition<Input, Output> = Omit<Verb<Input, Output>, keyof Route | 'input'>
type WithSchema<Schema extends v.GenericSchema, Output> = Definition<v.InferOutput<Schema>, Output> & {
  readonly input: Schema
}

export function verb<Schema extends v.GenericSchema, Output>(
  route: `${Verb['method']} /${string}`,
  summary: string,
  definition: WithSchema<Schema, Output>,
): Route & WithSchema<Schema, Output>
export function verb<Output>(
  route: `${Verb['method']} /${string}`,
  summary: string,
  definition: Definition<undefined, Output>,
): Route & Definition<undefined, Output>
export function verb(route: string, summary: string, definition: object): object {
  const [method, path] = route.split(' ')
  return { method, path, summary, ...definition }
}

export function fields<const Entries extends v.ObjectEntries>(entries: Entries) {
  return strictMap(entries, 'must be an object')
}

/** @param description of the field, for help and documentation */
export function described<Schema extends v.GenericSchema>(schema: Schema, description: string) {
  return v.pipe(schema, v.description(description))
}

export const text = v.string('must be a string')

/** Accepts a number, or its text in a query. */
export function countSchema(message: string): v.GenericSchema<number, number> {
  return v.union(
    [
      v.pipe(v.number(message), v.integer(message), v.minValue(0, message)),
      v.pipe(v.string(message), v.regex(/^\d{1,15}$/, message), v.transform(Number)),
    ],
    message,
  ) as never
}

const NOTHING = fields({})

/** @throws VerbError that reports all problems at once, with an example */
export function checkInput(
  { input: schema = NOTHING, body, ...verb }: Pick<Verb, 'input' | 'body'> & Partial<Verb>,
  input: unknown,
): unknown {
  const result = v.safeParse(schema, input ?? {})
  if (result.success) return result.output
  const known = Object.keys(entriesOf(schema) ?? {})
  const isOwn = ({ type, path }: v.BaseIssue<unknown>) => type === 'strict_object' && path?.length === 1
  const own = result.issues.filter(isOwn)
  const isUnlike = own.some(
    ({ expected, input: name }) => expected === 'never' && didYouMean(String(name), known) === '',
  )
  const problems = [
    ...own.map(({ expected, input: name, path }) =>
      expected === 'never'
        ? `Unknown field "${name}"${didYouMean(String(name), known)}`
        : `"${String(path?.[0]?.key)}" is missing`,
    ),
    ...formatIssues(
      result.issues.filter((issue) => !isOwn(issue)),
      (path) => fieldText(path.filter((part) => part !== body)),
    ),
  ]
  const takes = isUnlike ? ` This verb takes ${known.join(', ') || 'no input'}.` : ''
  const message = `${problems.join('; ')}.${takes}`.replace('?.', '?')
  throw new VerbError('invalid_request', message, exampleRequest({ ...verb, ...(body !== undefined && { body }) }))
}

/** `POST /clock/advance {"by":"1m"}` */
function exampleRequest({ method, path, body, example }: Partial<Verb>): string | undefined {
  if (method === undefined || path === undefined || example === undefined) return undefined
  const request = verbRequest({ method, path, ...(body !== undefined && { body }) }, '', example)
  return [method, request.address, request.body ?? []].flat().join(' ')
}

type Schema = v.GenericSchema & {
  readonly pipe?: readonly Schema[]
  readonly entries?: Readonly<Record<string, Schema>>
  readonly wrapped?: Schema
  readonly options?: readonly (Schema | string)[]
}

export function positionalFields({ args, input }: Pick<Verb, 'args' | 'input'>): readonly string[] {
  return args ?? Object.keys((input && entriesOf(input)) ?? {})
}

/** A field of an input for a command line, or of the object that is its body. The text, or its number, is sent as it is. */
export function inputField({ input, body = '' }: Pick<Verb, 'input' | 'body'>, name: string) {
  const entries = input && entriesOf(input)
  const entry = entries?.[name] ?? (entries?.[body] && entriesOf(entries[body])?.[name])
  const schema = entry?.wrapped ?? entry
  if (schema === undefined) return undefined
  const read = (text: string): ParseResult<unknown> => {
    const { issues = [], success } = v.safeParse(schema, text)
    const value = success || !/^(?!0\d)[\d.]+$/.test(text) ? text : Number(text)
    if (success || v.is(schema, value)) return { value }
    return { problem: issues.flatMap(helpfulIssues)[0]?.message ?? '' }
  }
  const choices = schema.type === 'picklist' ? (schema.options as readonly string[] | undefined) : undefined
  const isOptional = entry?.wrapped !== undefined
  return { read, choices, isOptional, description: v.getDescription(schema) }
}

function entriesOf({ entries, pipe = [], options = [], wrapped }: Schema): Schema['entries'] {
  const parts = [...pipe, ...options, ...(wrapped === undefined ? [] : [wrapped])]
  return entries ?? parts.map((part) => (typeof part === 'string' ? undefined : entriesOf(part))).find(Boolean)
}

function fieldText(path: Path): string {
  const [first, ...deeper] = path
  if (first === undefined) return 'The input'
  return typeof first === 'number' ? pathText('', path) : pathText(first, deeper)
}

export function checkSpaceName(name: string): void {
  if (name === '' || isSpaceName(name)) return
  throw new VerbError('invalid_request', `${quoted(name)} is not a valid space name. Use ${NAME_FORM}`)
}

export function findSpace(spaces: Spaces, name: string): Space {
  checkSpaceName(name)
  const space = spaces.get(name)
  if (space !== undefined) return space
  const meant = didYouMean(name, spaces.names()) || '.'
  throw new VerbError(
    'not_found',
    `Unknown space ${quoted(name)}${meant} A space opens with the first request that has a key such as sandbox~name, or the first verb that changes it.`,
  )
}

/** In a query, it is a text. */
export const switchInQuery: v.GenericSchema<boolean, boolean> = v.union(
  [
    v.boolean(),
    v.pipe(
      v.picklist(['true', 'false']),
      v.transform((text) => text === 'true'),
    ),
  ],
  'must be true or false',
) as never
