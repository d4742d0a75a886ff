import * as v from 'valibot'
import type { ApplyVerb, VerbCommand } from '../core/machine.js'
import type { Space } from '../core/space.js'
import type { SnapshotStore } from '../core/space-context.js'
import type { Spaces } from '../core/spaces.js'
import { isSpaceName } from '../domain/keys.js'
import type { Reply } from '../domain/messages.js'
import type { ProblemCode } from '../domain/problems.js'
import type { SpaceState } from '../domain/state.js'
import { didYouMean } from '../domain/suggest.js'
import type { EpochMs } from '../domain/time.js'
import { formatIssues, type Path, pathText, quoted } from '../options/problem.js'
import { joinOr } from '../options/values/reading.js'
import type { VerbRoute } from './verb-request.js'
import type { ReplicaView } from './views.js'

export interface ControlTarget {
  readonly spaces: Spaces
  /** Where the snapshots of a space are kept outside the sandbox; undefined if the space has them itself. */
  snapshotsOf(space: Space): SnapshotStore | undefined
  /** Applies a verb. Resolves once its changes are stored. @throws as `applyVerb`, or if the changes were rolled back */
  change(command: VerbCommand, applyVerb: ApplyVerb): Promise<{ readonly output: unknown; readonly wall: EpochMs }>
  /** Reads a state that includes every acknowledged change. Resolves once everything in it is stored. */
  read<T>(act: (wall: EpochMs) => T): Promise<T>
  /** The present replicas of its group; empty if it has no group. */
  replicas(now: EpochMs): readonly ReplicaView[]
  makeRoom(bytes: number): Promise<void> | undefined
  /** Aborted when the sandbox stops: endless responses must end then. */
  readonly stopping: AbortSignal
  /** Sends a request to the service, as a client in this process. @param replied takes the reply before it is sent */
  send(request: Request, replied: (reply: Reply) => void): Promise<Response>
  shutdown(): void
  readFixtures(): SpaceState
  onVerb?(done: VerbDone): void
}

export interface VerbDone {
  readonly space: string
  readonly name: string
  /** As it was given; a key in it may be somebody's real one. */
  readonly input: unknown
  readonly output: unknown
  readonly at: EpochMs
}

export interface VerbFiles extends Pick<ControlTarget, 'readFixtures'> {
  readonly snapshots: SnapshotStore | undefined
}

export interface VerbContext {
  readonly space: Space
  readonly spaces: Spaces
  /** The replicas of its group; only for verbs that read. */
  readonly replicas?: readonly ReplicaView[]
  /** The wall clock's time, read once: no verb reads it itself. */
  readonly wall: EpochMs
  readonly fetched?: unknown
}

/** One thing that can be done to a running sandbox. */
export interface Verb<Input = unknown, Output = unknown> extends VerbRoute {
  readonly summary: string
  /** Checks the input: path parameters, query and the fields of a JSON body, together. */
  readonly input?: v.GenericSchema<unknown, Input>
  /** It removes something, which can be undone for a minute. */
  readonly canUndo?: boolean
  /** Refuses unknown keys, which may be real ones, before the verb is written to the log of replicas. @throws VerbError */
  checkKeys?(space: Space, input: Input): void
  /** Reads the files that it needs, before it runs. @throws VerbError */
  fetch?(files: VerbFiles, input: Input): Promise<unknown>
  /** Runs it by sending requests to the service, which makes the changes. @throws VerbError */
  send?(target: ControlTarget, context: VerbContext, input: Input): Promise<Output>
  /** Runs it on this process, whatever the state of its log and its store. */
  here?(target: ControlTarget): Output
  /** Runs it on snapshots kept outside; nothing in the sandbox changes. @throws VerbError */
  outside?(snapshots: SnapshotStore, context: VerbContext, input: Input): Promise<Output>
  /** Runs it at once, on its arguments only. If it throws, it has changed nothing. @throws VerbError */
  run(context: VerbContext, input: Input): Output
}

/** A verb was refused and has changed nothing. */
export class VerbError extends Error {
  readonly code: ProblemCode

  constructor(code: VerbError['code'], message: string) {
    super(message)
    this.code = code
  }
}

type Route = Pick<Verb, 'method' | 'path' | 'summary'>
type Definition<Input, Output> = Omit<Verb<Input, Output>, keyof Route | 'input'>
type WithSchema<Schema extends v.GenericSchema, Output> = Definition<v.InferOutput<Schema>, Output> & {
  readonly input: Schema
}

/** Declares a verb; the types of its input and output are inferred. */
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
  return v.strictObject(entries, `takes ${joinOr(Object.keys(entries)) || 'nothing'}`)
}

export const text = v.string('must be a string')

/** A number as a program passes it, or as it is written in a query. */
export function countSchema(message: string) {
  return v.union(
    [
      v.pipe(v.string(message), v.regex(/^\d{1,15}$/, message), v.transform(Number)),
      v.pipe(v.number(message), v.integer(message), v.minValue(0, message)),
    ],
    message,
  )
}

const NOTHING = fields({})

/** Checks the input of a verb. @throws VerbError that reports all problems at once */
export function checkInput({ input: schema, body }: Pick<Verb, 'input' | 'body'>, input: unknown): unknown {
  const result = v.safeParse(schema ?? NOTHING, input ?? {})
  if (result.success) return result.output
  const problems = formatIssues(result.issues, (path) => fieldText(path.filter((part) => part !== body)))
  throw new VerbError('invalid_request', `${problems.join('; ')}.`)
}

/** `for`, `used.sandbox`, `[0].fault` */
function fieldText(path: Path): string {
  const [first, ...deeper] = path
  if (first === undefined) return 'The input'
  return typeof first === 'number' ? pathText('', path) : pathText(first, deeper)
}

export function checkSpaceName(name: string): void {
  if (name === '' || isSpaceName(name)) return
  throw new VerbError('invalid_request', `${quoted(name)} is not a valid space name. Use 1 to 64 of A-Z a-z 0-9 . _ -`)
}

export function findSpace(spaces: Spaces, name: string): Space {
  checkSpaceName(name)
  const space = spaces.get(name)
  if (space !== undefined) return space
  const meant = didYouMean(name, spaces.names()) || '.'
  throw new VerbError(
    'not_found',
    `There is no space ${quoted(name)}${meant} A space is opened by its first request (with a key such as sandbox~name), or by a verb that changes it.`,
  )
}
