import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createSandbox, startSandbox } from '../../src/index.js'
import { openapiFile } from '../../src/system/package-files.js'
import { temporaryFile } from '../support/temporary-files.js'

interface Served {
  readonly servers: readonly { readonly url: string; readonly description?: string }[]
}

/** With a custom Host, which fetch does not allow. */
async function ask(url: string, host: string): Promise<string> {
  const sent = request(url, { headers: { host, authorization: 'Bearer secret' } }).end()
  const [response] = await once(sent, 'response')
  return text(response)
}

describe('the contract that a sandbox serves', () => {
  it.each(['openapi.yaml', 'openapi.json'])('names the sandbox as its first server: %s', async (name) => {
    await using sandbox = await startSandbox({ basePath: '/animals/v1' })
    const document: Served = parse(await (await fetch(`${sandbox.controlUrl}/${name}`)).text())
    expect(document.servers[0]).toEqual({ url: sandbox.baseUrl, description: 'This sandbox' })
    expect({ ...document, servers: document.servers.slice(1) }).toEqual(parse(readFileSync(openapiFile, 'utf8')))
    const headers = { authorization: `Bearer ${sandbox.key()}` }
    expect((await fetch(`${document.servers[0]?.url}/pets`, { headers })).status).toBe(200)
  })

  it('names the address of a sandbox without a socket', async () => {
    await using sandbox = await createSandbox()
    const document = await (await sandbox.fetch(`${sandbox.controlUrl}/openapi.json`)).json()
    expect((document as Served).servers[0]?.url).toBe(sandbox.baseUrl)
  })

  it('names the Host of the request, if it is valid', async () => {
    await using sandbox = await startSandbox({ controlToken: 'secret' })
    const own = new URL(sandbox.baseUrl).host
    const served = async (host: string): Promise<Served> => parse(await ask(`${sandbox.controlUrl}/openapi.json`, host))
    expect((await served('petstore:8080')).servers[0]?.url).toBe('http://petstore:8080/v1')
    expect((await served('[::1]:8080')).servers[0]?.url).toBe('http://[::1]:8080/v1')
    expect((await served(own)).servers[0]?.url).toBe(sandbox.baseUrl)
    for (const host of ['a/b', 'a b', 'u:p@a', 'a"']) {
      expect((await served(host)).servers[0]?.url).toBe('/v1')
    }
  })

  it('keeps the rest of a contract in YAML, comments included', async () => {
    await using sandbox = await startSandbox()
    const served = await (await fetch(`${sandbox.controlUrl}/openapi.yaml`)).text()
    const own = `  - url: ${JSON.stringify(sandbox.baseUrl)}\n    description: This sandbox\n`
    expect(served.replace(own, '')).toBe(readFileSync(openapiFile, 'utf8'))
  })

  it.each([
    ['without servers', ''],
    ['with servers in one line', 'servers: [{url: "https://a.example/v1"}]\n'],
    ['with a quoted name', '"servers":\n  - url: https://a.example/v1\n'],
    ['with an empty list of servers', 'servers: []\n'],
    ['with servers at the beginning of the line', 'servers: # ours\n\n# the first\n- url: https://a.example/v1\n'],
    ['with servers in a text', 'x-a: |\n  servers:\n    - url: b\n'],
  ])('may be a contract %s', async (_what, servers) => {
    const spec = temporaryFile('c.yaml', `openapi: 3.1.0\ninfo: {title: t, version: "1"}\n${servers}paths: {}\n`)
    await using sandbox = await startSandbox({ spec })
    for (const name of ['openapi.yaml', 'openapi.json']) {
      const document: Served = parse(await (await fetch(`${sandbox.controlUrl}/${name}`)).text())
      expect(document.servers.map(({ url }) => url)).toEqual([
        sandbox.baseUrl,
        ...(servers.includes('a.example') ? ['https://a.example/v1'] : []),
      ])
    }
  })
})
