import { expect, it } from 'vitest'
import { unfitRecords } from '../../src/core/collections.js'
import { EMPTY_STATE } from '../../src/domain/state.js'
import { openContract } from '../../src/openapi/open-contract.js'
import { temporaryFile } from '../support/temporary-files.js'

const BOOK = {
  type: 'object',
  required: ['isbn', 'title'],
  properties: { isbn: { type: 'string' }, title: { type: 'string' }, pages: { type: 'integer' } },
}
const AUTHOR = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }

async function contractOf() {
  const json = (schema: object) => ({ content: { 'application/json': { schema } } })
  const ok = (schema: object) => ({ responses: { 200: { description: '', ...json(schema) } } })
  const created = (schema: object) => ({
    requestBody: json(schema),
    responses: { 201: { description: '', ...json(schema) } },
  })
  const parameters = [{ name: 'isbn', in: 'path', required: true, schema: { type: 'string' } }]
  const paths = {
    '/books': {
      get: { operationId: 'listBooks', ...ok({ type: 'array', items: BOOK }) },
      post: { operationId: 'createBook', ...created(BOOK) },
    },
    '/books/{isbn}': { get: { operationId: 'getBook', parameters, ...ok(BOOK) } },
    '/authors': {
      get: { operationId: 'listAuthors', ...ok({ type: 'array', items: AUTHOR }) },
      post: { operationId: 'createAuthor', ...created(AUTHOR) },
    },
  }
  const document = { openapi: '3.1.0', info: { title: 'Books', version: '1' }, paths }
  return openContract(temporaryFile('books.json', JSON.stringify(document)))
}

it('names the resources whose stored records do not fit the contract, with their number and a reason', async () => {
  const contract = await contractOf()
  const saved = (...values: object[]) => ({ idProperty: 'id', nextId: 1, values: values as never[] })
  const books = saved({ isbn: 'a', title: 'A' }, { isbn: 'b', title: 7 }, { id: 3, title: 'C' })
  const state = {
    ...EMPTY_STATE,
    records: Object.entries({ books, authors: saved({ id: 'x' }), shelves: saved({ id: 1 }) }),
  }
  expect(unfitRecords(contract, state)).toMatch(
    /^Some stored records do not fit the contract: 2 of 3 books \(.*title.*\), 1 of 1 authors \(.*id.*\)\. They are served as they are\.$/,
  )
})

it('says nothing if all fit, or no operation serves them', async () => {
  const contract = await contractOf()
  const books = { idProperty: 'isbn', nextId: 1, values: [{ isbn: 'a', title: 'A' }] }
  const shelves = { idProperty: 'id', nextId: 1, values: [{ nothing: 1 }] }
  expect(unfitRecords(contract, { ...EMPTY_STATE, records: Object.entries({ books, shelves }) })).toBeUndefined()
})
