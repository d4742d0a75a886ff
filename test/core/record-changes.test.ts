import { expect, it } from 'vitest'
import type { ResourceData } from '../../src/contract/resource-data.js'
import type { ActionRequest } from '../../src/core/action-request.js'
import { changedRecord } from '../../src/core/record-changes.js'
import type { Space } from '../../src/core/space.js'

const PLAIN = { readOnly: false, required: false }
const KNOWN = { id: 1, name: 'Rex', note: 'of the fixtures' }

function changed(
  kind: ActionRequest['action']['kind'],
  properties: ResourceData['properties'],
  body: ActionRequest['body'],
) {
  const resource = { id: { property: 'id' }, properties } as ResourceData
  const request = { resource, action: { kind }, body, now: 0 } as ActionRequest
  return changedRecord(request, KNOWN, kind === 'merge' ? KNOWN : {}, {} as Space)
}

it('drops a field that the request may have and the record does not declare', () => {
  expect(changed('merge', { id: PLAIN, name: PLAIN }, { name: 'Max', force: true })).toEqual({ ...KNOWN, name: 'Max' })
})

it('keeps every field of a record without declared properties', () => {
  expect(changed('merge', {}, { force: true })).toEqual({ ...KNOWN, force: true })
})

it('replaces a record by a PUT with the nulls that the client sent, also below its properties', () => {
  const config = { mode: null, limits: { a: null, b: 1 } }
  expect(changed('replace', { name: PLAIN, config: PLAIN }, { name: null, config })).toEqual({
    id: 1,
    name: null,
    config,
  })
  expect(changed('merge', { name: PLAIN, config: PLAIN }, { config })).toMatchObject({ config: { limits: { b: 1 } } })
})
