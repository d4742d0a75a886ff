import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { spawnServe } from '../support/spawned-serve.js'

describe('a store that is killed', () => {
  it('has the pet whose response was lost', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lost-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
    const names: string[] = []
    for (const fault of ['connection-reset', 'empty-response', 'truncated-body', '503']) {
      const server = await spawnServe(folder, '--fault', `createPet:${fault},after`)
      const body = JSON.stringify({ name: fault, categoryId: 1 })
      const lost = fetch(`${server.baseUrl}/pets`, { method: 'POST', headers, body })
      await lost.then(async (response) => void (await response.text())).catch(() => {})
      expect(await server.end('SIGKILL')).toBeNull()
      names.unshift(fault)

      const again = await spawnServe(folder)
      const response = await fetch(`${again.baseUrl}/pets?limit=${names.length}`, { headers })
      expect(((await response.json()) as { name: string }[]).map(({ name }) => name)).toEqual(names)
      expect(await again.end('SIGTERM')).toBe(0)
    }
  })
})
