import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from './test-io.js'

/** Tells on SIGUSR2 how many bytes V8's young generation has. */
const TELL = `data:text/javascript,${encodeURIComponent(`
  import { getHeapSpaceStatistics } from 'node:v8'
  process.on('SIGUSR2', () =>
    console.log(getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size))
`)}`
const READY = /"baseUrl":"([^"]+)"/
/** They outlive what is made beside them, as pets do. */
const LONG_PETS = 400
const LONG_NAME = 'x'.repeat(60_000)

it('serve keeps the memory for what is new as small as at the start, whatever is kept of it', async () => {
  const child = spawn(
    process.execPath,
    [
      '--import',
      TELL,
      join(packageDirectory, 'bin/petstore-sandbox.js'),
      'serve',
      '--port',
      '0',
      '--in-memory',
      '--plan',
      'business',
    ],
    { cwd: temporaryFolder(), env: { PATH: process.env.PATH } },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const youngBytes = async () => {
    const told = once(child.stdout, 'data')
    child.kill('SIGUSR2')
    return Number(String(await told))
  }
  let said = ''
  while (!READY.test(said)) said += String(await once(child.stderr, 'data'))
  const pets = `${READY.exec(said)?.[1]}/pets`
  const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
  const before = await youngBytes()
  for (let n = 0; n < LONG_PETS; n++) {
    const body = JSON.stringify({ name: LONG_NAME, categoryId: n })
    const answer = await fetch(pets, { method: 'POST', headers, body })
    await answer.arrayBuffer()
    expect(answer.status).toBe(201)
  }
  // The last of the start's scavenges may have come after it.
  expect(await youngBytes()).toBeLessThanOrEqual(2 * before)
})
