import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { spawnServe } from '../support/spawned-serve.js'
import { temporaryFolder } from './test-io.js'

it('serve whose folder is removed answers writes with 500, and says at its end that the store is lost', async () => {
  const cwd = temporaryFolder()
  const serve = await spawnServe(cwd)
  const authorization = { Authorization: 'Bearer sandbox' }
  const add = () =>
    fetch(`${serve.baseUrl}/pets`, {
      method: 'POST',
      headers: { ...authorization, 'Content-Type': 'application/json' },
      body: '{"name":"Rex","categoryId":1}',
    })
  expect((await add()).status).toBe(201)
  rmSync(join(cwd, '.petstore-sandbox'), { recursive: true })
  const refused = await add()
  expect(refused.status).toBe(500)
  expect(await refused.json()).toMatchObject({ code: 'internal_error' })
  expect((await fetch(`${serve.baseUrl}/pets`, { headers: authorization })).status).toBe(200)
  expect(await serve.end('SIGTERM')).toBe(1)
  expect(serve.lines.at(-1)).toMatch(/^STORE_LOST: ".*store\.json" was removed or moved away/)
})
