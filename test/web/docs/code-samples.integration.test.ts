import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { BEARER } from '../../../src/contract/contract-data.js'
import { startSandbox } from '../../../src/index.js'
import { packageDirectory } from '../../../src/system/package-files.js'
import { readContract } from '../../../src/web/docs/contract-model.js'
import { retryLoops } from '../../../src/web/docs/retry-loops.js'
import { firstInputs, requestOf } from '../../../src/web/docs/sample-request.js'
import { CODE_FORMS } from '../../../src/web/request-code.js'
import { HAS_PYTHON, PYTHON } from '../../support/python.js'

/** Runs code in a language. */
async function run(language: string, text: string): Promise<string> {
  const bin = join(packageDirectory, 'bin')
  // As an installed command would be.
  const shell = text.replaceAll('petstore-sandbox call', `node ${bin}/petstore-sandbox.js call`)
  const programs = {
    fetch: [process.execPath, ['--input-type=module', '-e', text]],
    Python: [PYTHON, ['-c', text]],
  } as const
  const [file, args] = programs[language as keyof typeof programs] ?? ['sh', ['-c', shell]]
  const { stdout } = await promisify(execFile)(file, args, { timeout: 60_000 })
  return stdout
}

describe.each(['curl', 'fetch', 'Python', 'call'] as const)('the code sample in %s', (language) => {
  it.skipIf(language === 'Python' && !HAS_PYTHON).each(['listPets', 'createPet'])(
    'of %s runs as it is copied',
    async (id) => {
      await using sandbox = await startSandbox({ seed: 1 })
      const document = Object(await (await fetch(`${sandbox.controlUrl}/openapi.json`)).json())
      const contract = readContract(document)
      const operation = contract.operations.find((one) => one.id === id)
      if (operation === undefined) throw new Error(`there is no ${id}`)
      const body = JSON.stringify({ name: `O'Rex "$HOME" \\ Žofka 🐢`, categoryId: 1 })
      const given = id === 'createPet' ? { body } : { parameters: { limit: '2', status: 'sold' } }
      const inputs = { ...firstInputs(contract, operation), ...given }
      const key = 'sandbox-pro~samples'
      const request = requestOf(operation, inputs, { baseUrl: sandbox.baseUrl, key, keyHeader: BEARER })
      const out = await run(language, CODE_FORMS[language](request))
      const exchanges = await sandbox.space('samples').requests()
      expect(exchanges).toMatchObject([{ operation: id, key: 'sandbox-pro', status: id === 'createPet' ? 201 : 200 }])
      if (id === 'createPet') expect(exchanges[0]?.request.body).toContain(`O'Rex \\"$HOME\\" \\\\ Žofka 🐢`)
      else expect(exchanges[0]?.query).toBe('limit=2&status=sold')
      expect(out).toContain('"id":')
    },
  )
})

describe.each(['curl', 'fetch', 'Python', 'call'] as const)('the retry loop in %s', (language) => {
  it.skipIf(language === 'Python' && !HAS_PYTHON)('waits for Retry-After and keeps the rules', async () => {
    await using sandbox = await startSandbox({ seed: 1, fault: 'listPets:429,retry-after=1s*1' })
    const out = await run(language, retryLoops(sandbox.baseUrl, BEARER, 'sandbox')[language]())
    expect(out).toContain('"id":')
    expect((await sandbox.requests()).map(({ status }) => status)).toEqual([429, 200])
    expect((await sandbox.conduct()).violations).toEqual([])
  })
})
