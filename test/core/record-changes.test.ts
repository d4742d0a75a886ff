import { expect, it } from 'vitest'
import type { ResourceData } from '../../src/contract/resource-data.js'
import type { ActionRequest } from '../../src/core/action-request.js'
import { changedRecord } from '../../src/core/record-changes.js'
import type { Space } from '../../src/core/space.js'

const PLAIN = { readOnly: false, required: false }
const KNOWN = { id: 1, name: 'Rex', note: 'of the fixtures' }

function patched(properties: ResourceData['properties'], body: ActionRequest['body']) {
  const resource = { id: { property: 'id' }, properties } as ResourceData
  const request = { resource, action: { kind: 'merge' }, body, now: 0 } as ActionRequest
  return changedRecord(request, KNOWN, KNOWN, {} as Space)
}

it('drops a field that the request may have and the record does not declare', () => {
  expect(patched({ id: PLAIN, name: PLAIN }, { name: 'Max', force: true })).toEqual({ ...KNOWN, name: 'Max' })
})

it('keeps every field of a record without declared properties', () => {
  expect(patched({}, { force: true })).toEqual({ ...KNOWN, force: true })
})
