import type { Contract, Operation } from '../../contract/contract.js'
import { type IdData, isStateful, type ResourceData } from '../../contract/resource-data.js'
import { didYouMean } from '../../domain/suggest.js'
import { OptionsError } from '../../options/options.js'
import { formatProblem } from '../../options/problem.js'
import { type ConformScenario, DEFAULT_KEY, JOBS, type Job, STEPS, type Step } from './scenarios.js'

/** Neither its nearest number of JavaScript nor its low 32 or 53 bits are the id of a record: 2^53 + 1,234,567,891. */
export const LARGE_ID = 9_007_200_489_308_883n

/** The resource of the contract that the client works on. */
export interface TestedResource {
  readonly name: string
  readonly id: IdData
  readonly operations: { readonly [Name in Step]?: Operation }
  /** A property has an enum. */
  readonly hasChoices: boolean
  readonly allowsLargeIds: boolean
  /** Resources with records to generate: those that its records belong to, then its own. */
  readonly generate: readonly string[]
}

/** A scenario with the operations of the resource in place of `{list}`, `{get}` and `{create}`. */
export interface AppliedScenario extends ConformScenario {
  readonly job: Job
  readonly resource: TestedResource
}

/** @param wanted default: the one with the most stateful operations @throws OptionsError */
export function findResource(
  { operations, resources, isPackaged }: Contract,
  wanted: string | undefined,
): TestedResource {
  const own = (name: string) =>
    operations.filter((operation) => isStateful(operation) && operation.action?.resource === name)
  const usable = resources.filter(({ name }) => own(name).some(({ action }) => isStep(action?.kind)))
  // Parents that the contract does not describe have no records to list.
  const unknownParents = ({ parents }: ResourceData) => parents.filter((parent) => parent.resource === undefined).length
  const [most] = [...usable].sort(
    (a, b) =>
      unknownParents(a) - unknownParents(b) ||
      own(b.name).length - own(a.name).length ||
      a.parents.length - b.parents.length,
  )
  const resource = wanted === undefined ? most : usable.find(({ name }) => name === wanted)
  if (resource === undefined) {
    const names = usable.map(({ name }) => name)
    throw new OptionsError([
      wanted === undefined
        ? 'The contract has no resource with stateful operations, so conform has nothing to test'
        : formatProblem('--resource', wanted, `is not one of ${names.join(', ')}${didYouMean(wanted, names)}`),
    ])
  }
  const stepOf = (kind: Step, method: string) =>
    own(resource.name)
      .filter((operation) => operation.action?.kind === kind && operation.method === method)
      .sort((a, b) => a.path.length - b.path.length)[0]
  const [list, get, create] = [stepOf('list', 'GET'), stepOf('get', 'GET'), stepOf('create', 'POST')]
  const isGenerated = (!resource.isFixed || resource.isMadeUp) && isPackaged !== true
  return {
    name: resource.name,
    id: resource.id,
    operations: { ...(list && { list }), ...(get && { get }), ...(create && { create }) },
    hasChoices: Object.values(resource.properties).some(({ choices = [] }) =>
      choices.some((choice) => typeof choice === 'string'),
    ),
    allowsLargeIds: resource.id.kind === 'integer' && get !== undefined && takesLargeId(get),
    generate: isGenerated ? [...resource.parents.flatMap((parent) => parent.resource ?? []), resource.name] : [],
  }
}

function isStep(kind: string | undefined): kind is Step {
  return STEPS.some((step) => step === kind)
}

function takesLargeId({ parameters, readPath }: Operation): boolean {
  const names = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
  const { violations } = readPath(names.map(() => String(LARGE_ID)))
  return violations.every(({ name }) => name !== names.at(-1))
}

/** The steps of a job, without those that the contract lacks. */
export function jobOperations(job: Job, { operations: { list, get, create } }: TestedResource): readonly Operation[] {
  return [job === 'read' ? list : create, get].filter((value) => value !== undefined)
}

/** @returns the reason if the scenario does not apply to the resource */
export function applyScenario(
  scenario: ConformScenario,
  resource: TestedResource,
  jobs: readonly Job[],
): AppliedScenario | string {
  const { expectation, switches } = scenario
  const { operations } = resource
  const first = { read: operations.list, create: operations.create }
  const able = JOBS.filter((job) => jobs.includes(job) && (expectation.job ?? job) === job && first[job] !== undefined)
  const isAbout = (word: string) => expectation.delivers.includes(word)
  const text = JSON.stringify([switches, expectation])
  const missing = STEPS.find((step) => text.includes(`{${step}}`) && operations[step] === undefined)
  const isAboutKey = expectation.key !== DEFAULT_KEY || 'used' in switches || 'ban' in switches
  const needsKey = (job: Job) => jobOperations(job, resource).some(({ isPublic }) => !isPublic)
  const usable = isAboutKey ? able.filter(needsKey) : able
  const isDeprecated = (job: Job) => jobOperations(job, resource).some(({ sunsetAt }) => sunsetAt !== undefined)
  const job = isAbout('sunset') ? usable.find(isDeprecated) : usable[0]
  if (able.length === 0 || missing !== undefined)
    return `${resource.name} has no operation to ${missing ?? (expectation.job === 'create' ? 'create' : 'list')} records.`
  if (usable.length === 0) return `The command needs no key for ${resource.name}.`
  if (job === undefined) return `No operation of ${resource.name} has x-deprecated-sunset.`
  if (isAbout('enum-growth') && !resource.hasChoices) return `No property of ${resource.name} has an enum.`
  if (expectation.largeId && !resource.allowsLargeIds) return `Ids of ${resource.name} are not above 2^53.`
  const named = text.replace(/\{(list|get|create)\}/g, (_, step: Step) => operations[step]?.id ?? '')
  const [ownSwitches, ownExpectation] = JSON.parse(named)
  return { ...scenario, switches: ownSwitches, expectation: ownExpectation, job, resource }
}
