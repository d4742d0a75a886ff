import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { startSandbox } from '../../src/api/start.js'
import { runCli } from '../../src/cli/run-cli.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { testIo } from './test-io.js'

describe('call', () => {
  it('refuses an extra argument before sending', async () => {
    await using sandbox = await startSandbox()
    const io = testIo({ env: { PETSTORE_SANDBOX_URL: sandbox.controlUrl, XDG_CONFIG_HOME: temporaryFolder() } })
    for (const argv of [
      ['listPets', '5'],
      ['getPet', '1', '2'],
      ['listOrders', 'x'],
    ])
      expect(await runCli(['call', ...argv], io)).toBe(2)
    expect(io.stderr.text).toMatch(
      /^(?:USAGE: too many arguments for '\w+'\. Expected (?:0 arguments|1 argument) but got \d\. See petstore-sandbox call \w+ --help\.\n){3}$/,
    )
    expect(await sandbox.requests()).toEqual([])
  })

  it('lists operations in every output format', async () => {
    const list = async (form: string) => {
      const io = testIo()
      expect(await runCli(['call', '--list', '--output', form], io)).toBe(0)
      return io.stdout.text
    }
    expect(parse(await list('yaml'))).toEqual(JSON.parse(await list('json')))
    expect(await list('table')).toMatch(/^operation +request +stability/)
  })
})

describe('control wait --help', () => {
  it('shows its default as a duration', async () => {
    const io = testIo()
    expect(await runCli(['control', 'wait', '--help'], io)).toBe(0)
    expect(io.stdout.text).toContain('(default: 30s)')
  })
})
