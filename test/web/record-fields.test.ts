import { describe, expect, it } from 'vitest'
import { recordFields } from '../../src/web/dashboard/record-fields.js'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

describe('the fields of a record in the dashboard', () => {
  it('are those of the request body that creates it, across references and allOf', () => {
    const contract = {
      paths: { '/pets': { post: { requestBody: { $ref: '#/components/requestBodies/Pet' } } } },
      components: {
        requestBodies: { Pet: { content: { 'text/plain': {}, 'application/json': { schema: ref('NewPet') } } } },
        schemas: {
          NewPet: { allOf: [ref('Named'), { properties: { status: ref('Status') } }, ref('NewPet')] },
          Named: {
            required: ['name', 'size', 'isTame'],
            properties: { name: { type: 'string' }, size: { enum: [1, 2] }, isTame: { type: ['boolean', 'null'] } },
          },
          Status: { type: 'string', enum: ['sold'] },
        },
      },
    }
    const fields = recordFields(contract, '/pets')
    expect(fields.slice(0, 4)).toEqual([
      { name: 'name', isRequired: true, choices: undefined },
      { name: 'size', isRequired: true, choices: ['1', '2'] },
      { name: 'isTame', isRequired: true, choices: ['true', 'false'] },
      { name: 'status', isRequired: false, choices: ['sold', ['', 'none']] },
    ])
    expect(new Set(fields.map(({ name }) => name)).size).toBe(fields.length)
  })

  it('are those in the envelope of the body', () => {
    const record = { properties: { name: { type: ['string', 'null'] } } }
    const post = { requestBody: { content: { 'application/json': { schema: { properties: { pet: record } } } } } }
    const fields = recordFields({ paths: { '/pets': { post } } }, '/pets', 'pet')
    expect(fields.map(({ name }) => name)).toEqual(['name'])
  })

  it('are none if the contract has no such request, or a reference has no target', () => {
    expect(recordFields({}, '/pets')).toEqual([])
    const post = { requestBody: { content: { 'application/json': { schema: ref('None') } } } }
    expect(recordFields({ paths: { '/pets': { post } } }, '/pets')).toEqual([])
    expect(
      recordFields({ paths: { '/pets': { post } }, components: { schemas: { None: ref('None') } } }, '/pets'),
    ).toEqual([])
  })
})
