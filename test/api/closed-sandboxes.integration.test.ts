import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'

/** Opens and closes sandboxes, each after a request and a verb. Prints how much larger the heap is for the last 200, in bytes. */
const PROGRAM = `
import { get } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { startSandbox } from ${JSON.stringify(join(packageDirectory, 'dist/index.js'))}
const request = (url) => new Promise((resolve) =>
  get(url, { agent: false, headers: { authorization: 'Bearer sandbox' } }, (response) => response.resume().on('end', resolve)))
async function openAndClose(times) {
  for (let i = 0; i < times; i++) {
    const sandbox = await startSandbox({ generate: ['pets=2000'] })
    await request(sandbox.baseUrl + '/pets')
    await sandbox.requests()
    await sandbox.close()
  }
  for (let i = 0; i < 5; i++) {
    globalThis.gc()
    await setTimeout(10)
  }
  return process.memoryUsage().heapUsed
}
const before = await openAndClose(50)
console.log(await openAndClose(200) - before)
`

it('leaves memory when it is closed: 200 sandboxes, one after the other, leave less than 2 MB', () => {
  const flags = ['--expose-gc', '--input-type=module', '--eval', PROGRAM]
  expect(Number(execFileSync(process.execPath, flags, { encoding: 'utf8' }))).toBeLessThan(2_000_000)
})
