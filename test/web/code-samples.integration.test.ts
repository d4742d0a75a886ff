import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { BEARER } from '../../src/contract/contract-data.js'
import { startSandbox } from '../../src/index.js'
import { type CodeRequest, codeForms } from '../../src/web/request-code.js'

/** Runs code in a language. */
async function run(language: keyof ReturnType<typeof codeForms>, text: string): Promise<string> {
  const [file, args] =
    language === 'fetch' ? [process.execPath, ['--input-type=module', '-e', text]] : ['sh', ['-c', text]]
  const { stdout } = await promisify(execFile)(file, args)
  return stdout
}

const NAME = `O'Rex "$HOME" \\ Žofka 🐢`
const JSON_TYPE = ['Content-Type', 'application/json'] as const

describe.each(['curl', 'fetch'] as const)('the code sample in %s', (language) => {
  it.each([
    ['listPets', { method: 'GET', query: '?limit=2&status=sold', headers: [], body: undefined }],
    [
      'createPet',
      { method: 'POST', query: '', headers: [JSON_TYPE], body: JSON.stringify({ name: NAME, categoryId: 1 }) },
    ],
  ])('of %s runs as it is copied', async (id, { query, ...facts }) => {
    await using sandbox = await startSandbox({ seed: 1 })
    const { baseUrl } = sandbox
    const url = `${baseUrl}/pets${query}`
    const request: CodeRequest = { ...facts, url, key: 'sandbox-pro~samples', keyHeader: BEARER }
    const out = await run(language, codeForms(request)[language]())
    const exchanges = await sandbox.space('samples').requests()
    expect(exchanges).toMatchObject([{ operation: id, key: 'sandbox-pro', status: id === 'createPet' ? 201 : 200 }])
    if (id === 'createPet') expect(JSON.parse(exchanges[0]?.request.body ?? '')).toMatchObject({ name: NAME })
    else expect(exchanges[0]?.query).toBe('limit=2&status=sold')
    expect(out).toContain('"id":')
  })
})
