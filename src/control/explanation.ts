import type { Contract } from '../contract/contract.js'
import { isStateful } from '../contract/resource-data.js'
import type { ExplanationView } from './views.js'

/** What the contract says about its resources and operations. @source docs/spec.md, "Why an operation is mocked" */
export function readExplanation({ operations, resources }: Contract): ExplanationView {
  return {
    resources: resources.map(({ name, path, id, because, parents }) => {
      const own = operations.filter((operation) => isStateful(operation) && operation.action?.resource === name)
      const actions = own.flatMap(({ action }) => action ?? [])
      const { outer, envelope } = actions.find(({ kind, envelope }) => kind !== 'list' && envelope !== undefined) ?? {}
      return {
        name,
        path,
        record: because.record,
        id: { property: id.parts?.join(', ') ?? id.property, because: because.id },
        envelope: [outer, envelope].filter((value) => value !== undefined).join('.'),
        list: own.find(({ action }) => action?.kind === 'list')?.id ?? null,
        parents: parents.map(({ parameter, resource = null }) => ({ parameter, resource })),
      }
    }),
    operations: operations.map((operation) => {
      const { id, method, path, action, isMocked, whyMocked = '' } = operation
      const stateful = isStateful(operation)
      const because = stateful ? `${action?.kind} ${action?.resource}` : isMocked ? '--mock' : whyMocked
      return { operation: id, method, path, stateful, because, needsKey: operation.isPublic !== true }
    }),
  }
}
