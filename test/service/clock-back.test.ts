import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { startSandbox } from '../../src/api/start.js'
import { runCli } from '../../src/cli/run-cli.js'
import { temporaryFolder, testIo } from '../cli/test-io.js'
import { transports } from '../support/transports.js'

describe.each(transports)('a token that is nobody’s here, %s', (_name, openSandbox) => {
  it('is in no log, also where every key is taken', async () => {
    const sandbox = await openSandbox({ anyKey: true })
    expect(await sandbox.get('/pets', 'sk_live_secret')).toMatchObject({ status: 200 })
    const { json } = await sandbox.control('GET', '/requests')
    expect(json).toMatchObject([{ key: 'unknown', request: { headers: { authorization: 'Bearer unknown' } } }])
    expect(JSON.stringify(json)).not.toContain('sk_live_secret')
  })
})

describe('call', () => {
  it('refuses a word that the operation has no parameter for, and sends nothing', async () => {
    await using sandbox = await startSandbox()
    const io = testIo({ env: { PETSTORE_SANDBOX_URL: sandbox.controlUrl, XDG_CONFIG_HOME: temporaryFolder() } })
    for (const argv of [
      ['listPets', '5'],
      ['getPet', '1', '2'],
      ['listOrders', 'x'],
    ])
      expect(await runCli(['call', ...argv], io)).toBe(2)
    expect(io.stderr.text).toMatch(/^(?:USAGE: too many arguments for '\w+'\..*\n){3}$/)
    expect(await sandbox.requests()).toEqual([])
  })

  it('lists operations in each form that it prints answers in', async () => {
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
  it('says its default as a duration', async () => {
    const io = testIo()
    expect(await runCli(['control', 'wait', '--help'], io)).toBe(0)
    expect(io.stdout.text).toContain('how long at most (default: 30s)')
  })
})

describe.each(transports)('a pet of the fixtures, %s', (_name, openSandbox) => {
  it('has its fields in the contract’s order on the control plane, too', async () => {
    const sandbox = await openSandbox()
    const { json } = await sandbox.control('GET', '/pets?limit=1')
    expect(JSON.stringify(json)).toBe((await sandbox.get('/pets?limit=1')).text)
  })
})

describe.each(transports)('a finding of conduct, %s', (_name, openSandbox) => {
  it('says how early a request was, also where that was a millisecond', async () => {
    const sandbox = await openSandbox({ limits: '1/min' })
    for (let i = 0; i < 2; i++) await sandbox.get('/pets')
    await sandbox.advance('59999ms')
    await sandbox.get('/pets')
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({
      violations: [{ message: 'listPets was sent again 1 ms before its Retry-After had passed.' }],
    })
  })
})

describe.each(transports)('what began in a future from which the clock has returned, %s', (_name, openSandbox) => {
  it('is over, also when the clock comes to that time again', async () => {
    const sandbox = await openSandbox({ limits: '1/min' })
    await sandbox.control('PUT', '/clock', { now: '2099-01-01T00:00:00Z', frozen: true })
    expect([await sandbox.get('/pets'), await sandbox.get('/pets')]).toMatchObject([{ status: 200 }, { status: 429 }])
    await sandbox.control('PUT', '/keys/sandbox-pro/ban', { for: '1h' })
    await sandbox.control('DELETE', '/clock')
    await sandbox.control('PUT', '/clock', { now: '2099-01-01T00:00:30Z' })
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200 })
    expect(await sandbox.get('/pets', 'sandbox-pro')).toMatchObject({ status: 200 })
    await sandbox.control('PUT', '/storm', { rate: 1 })
    await sandbox.control('DELETE', '/clock')
    expect((await sandbox.control('GET', '/state')).json).toMatchObject({ storm: null })
    await sandbox.control('PUT', '/clock', { now: '2099-01-01T00:00:40Z' })
    expect(await sandbox.get('/pets', 'sandbox-business')).toMatchObject({ status: 200 })
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({ violations: [] })
  })
})
