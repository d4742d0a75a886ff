import type { GenericSchema, InferOutput } from 'valibot'
import type { ApplyVerb, VerbCommand } from '../core/machine.js'
import type { SnapshotStore } from '../core/snapshot.js'
import type { Space } from '../core/space.js'
import type { Spaces } from '../core/spaces.js'
import type { Reply } from '../domain/messages.js'
import type { ProblemCode } from '../domain/problems.js'
import type { SpaceState } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'
import type { VerbName } from './verb-map.js'
import type { ReplicaView } from './views.js'

/** The parts of a running sandbox that verbs can reach. */
export interface ControlTarget {
  readonly spaces: Spaces
  /** Where the snapshots of a space are kept outside the sandbox; undefined where the space has them itself. */
  snapshotsOf(space: Space): SnapshotStore | undefined
  /**
   * Applies a verb.
   *
   * @returns what it gives, and when it was applied, as soon as what it has changed is kept
   * @throws whatever `applyVerb` throws; or why the change could not be kept, so that it was taken back
   */
  change(command: VerbCommand, applyVerb: ApplyVerb): Promise<{ readonly output: unknown; readonly wall: EpochMs }>
  /**
   * Reads what every change is in that anybody was told of, and gives it when all that it tells of is kept.
   *
   * @param act is given what the wall clock says, which it reads once
   * @throws what it throws
   */
  read<T>(act: (wall: EpochMs) => T): Promise<T>
  /** The replicas of its group that are there; empty for a sandbox by itself. */
  replicas(now: EpochMs): readonly ReplicaView[]
  /** Makes room in the store for so many bytes, if it can. */
  makeRoom(bytes: number): Promise<void> | undefined
  /** Aborted when the sandbox stops: endless responses must end then. */
  readonly stopping: AbortSignal
  /** Asks the service, as a client in this process. @param replied is told of the reply before it is sent */
  send(request: Request, replied: (reply: Reply) => void): Promise<Response>
  /** Stops the sandbox, as SIGTERM does; returns at once. */
  shutdown(): void
  /** Reads the fixtures again. @throws Failure FIXTURES_INVALID and its like */
  readFixtures(): SpaceState
  /** Is told of each verb that has changed something. */
  onVerb?(done: VerbDone): void
}

/** A verb that was done. */
export interface VerbDone {
  /** Empty for the default space. */
  readonly space: string
  readonly name: VerbName
  /** As it was given; a key in it may be somebody's real one. */
  readonly input: unknown
  readonly output: unknown
  /** By the clock of the space, after the verb. */
  readonly at: EpochMs
}

/** What is kept outside the sandbox. */
export interface VerbFiles extends Pick<ControlTarget, 'readFixtures'> {
  /** Where the snapshots of the space are; undefined where it has them itself. */
  readonly snapshots: SnapshotStore | undefined
}

/** What a verb works on: a space and its sandbox. */
export interface VerbContext {
  readonly space: Space
  readonly spaces: Spaces
  /** The replicas of its group, where it has one. Only for what reads. */
  readonly replicas?: readonly ReplicaView[]
  /** What the wall clock says, read once: no verb reads it itself. */
  readonly wall: EpochMs
  /** What was fetched for it beforehand. */
  readonly fetched?: unknown
}

/**
 * One thing that can be done to a running sandbox. Control routes, their
 * description, the remote API and the `control` command are all made from these.
 */
export interface Verb<Input = unknown, Output = unknown> {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  /** Path below `/__sandbox`; its parameters are fields of the input. */
  readonly path: string
  /** One sentence that describes it. */
  readonly summary: string
  /** Checks the input: path parameters, query and the fields of a JSON body, together. */
  readonly input?: GenericSchema<unknown, Input>
  /** Name of the one field that is the whole JSON body; without it the body's fields are the input's. */
  readonly body?: string
  /** Reads what it needs of files, beforehand. @throws VerbError */
  fetch?(files: VerbFiles, input: Input): Promise<unknown>
  /** Does it through the service, as any client; what changes, the service changes. @throws VerbError */
  send?(target: ControlTarget, context: VerbContext, input: Input): Promise<Output>
  /** Does it where the snapshots of the space are kept outside, and nothing in the sandbox changes. @throws VerbError */
  outside?(snapshots: SnapshotStore, context: VerbContext, input: Input): Promise<Output>
  /** Does it: at once, by nothing but what it is given. @throws VerbError; nothing has changed then */
  run(context: VerbContext, input: Input): Output
}

/** A verb that could not be done; nothing has changed. */
export class VerbError extends Error {
  readonly code: ProblemCode

  constructor(code: VerbError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** What is said of a verb whose input a schema checks. */
type WithSchema<Schema extends GenericSchema, Output> = Omit<Verb<InferOutput<Schema>, Output>, 'input'> & {
  readonly input: Schema
}

/** Declares a verb, so that its input type is inferred from its schema. */
export function verb<Schema extends GenericSchema, Output>(
  definition: WithSchema<Schema, Output>,
): WithSchema<Schema, Output>
export function verb<Output>(definition: Omit<Verb<undefined, Output>, 'input'>): Omit<Verb<undefined, Output>, 'input'>
export function verb(definition: object): object {
  return definition
}
