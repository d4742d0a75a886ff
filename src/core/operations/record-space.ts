import type { Values } from '../../contract/contract.js'
import { InvalidRecord, type RecordChange } from '../../domain/records.js'
import type { RecordSpace } from '../action-request.js'
import { originalsName } from '../collections.js'
import type { Space } from '../space.js'

const recordSpaces = new WeakMap<Space, RecordSpace>()

export function recordSpaceOf(space: Space): RecordSpace {
  const known = recordSpaces.get(space)
  if (known !== undefined) return known
  const { resources } = space.shared.contract
  const made: RecordSpace = {
    records: (name) => space.records.get(name),
    children: (name) => resources.filter(({ parents }) => parents.some(({ resource }) => resource === name)),
    newUuid: (name) => space.newUuid(name),
    hasParent:
      space.shared.realService &&
      ((name, scope, id) => space.records.get(originalsName(name))?.get(scope, id) === undefined),
  }
  recordSpaces.set(space, made)
  return made
}

/** @throws StoreFull, InvalidRecord */
export function changeRecord(space: Space, change: RecordChange): void {
  if (change.kind === 'put') checkRecord(space, change.resource, change.record.value)
  space.changeRecord(change)
}

/** @throws InvalidRecord if the contract does not allow it in responses */
function checkRecord({ shared: { contract } }: Space, resource: string, value: Values): void {
  const violations = contract.rules?.get(resource)?.findViolations(value) ?? []
  if (violations.length > 0) throw new InvalidRecord(`The contract has no such animal: ${violations.join('; ')}.`)
}
