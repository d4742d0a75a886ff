import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { follow } from './project.js'

it('a script in CI runs the tests, and checks the conduct of the client', async () => {
  await follow('vitest', 'shop')
  const { folder, scripts, run } = await follow('shell', 'shop')
  const script = scripts.find((one) => one.includes(' exec ')) ?? ''
  const exec = run(script)
  expect(await exec.code, exec.said()).toBe(0)
  expect(exec.said()).toMatch(/conduct: no violations/)
  const [, report = ''] = /--report (\S+\.xml)/.exec(script) ?? []
  if (report !== '') expect(readFileSync(join(folder, report), 'utf8')).toMatch(/<testsuite [^>]*failures="0"/)
})

it('a script starts a sandbox, waits for it, asks it, and stops it', async () => {
  const { scripts, run, origin } = await follow('shell', 'shop')
  const script = run(scripts.find((one) => one.includes(' serve ')) ?? '')
  expect(await script.code, script.said()).toBe(0)
  expect(script.said()).toMatch(/\[\{"id":\d+,"name":.*\}\]/)
  expect(script.said()).toMatch(/The sandbox at http:\S+ has stopped\./)
  await expect(fetch(origin)).rejects.toThrow()
})
