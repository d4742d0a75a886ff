import { describe, expect, it } from 'vitest'
import { readContract } from '../../src/contract/read-contract.js'

function read(document: object) {
  return readContract(
    { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: {}, ...document },
    { handled: 'none' },
  ).data
}

describe('the base path of a contract', () => {
  it.each([
    ['/v2', '/v2'],
    ['/v2/', '/v2'],
    ['v2', '/v2'],
    ['https://api.example.com/shop/v2', '/shop/v2'],
    ['//api.example.com/v2', '/v2'],
    ['http://localhost:8080', ''],
    ['/', ''],
  ])('is the path of the server %s', (url, path) =>
    expect(read({ servers: [{ url }] })).toMatchObject({ basePath: path, notes: [] }),
  )

  it('is that of the first server, with the defaults of its variables', () => {
    const variables = { stage: { default: 'beta' } }
    const servers = [{ url: 'https://{stage}.example.com/{stage}', variables }, { url: '/v3' }]
    expect(read({ servers })).toMatchObject({ basePath: '/beta', notes: [] })
  })

  it('is /v1 without servers', () => expect(read({})).toMatchObject({ basePath: '/v1', notes: [] }))

  it.each(['https://{host}/v2', 'http://[', '/__sandbox', '/%7Bstage%7D'])(
    'is /v1, with a note, for the server %s',
    (url) =>
      expect(read({ servers: [{ url }] })).toMatchObject({
        basePath: '/v1',
        notes: [`The server "${url}" has no usable path. Without --base-path, the sandbox serves under /v1.`],
      }),
  )
})
