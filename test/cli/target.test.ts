import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { targetConfigFile } from '../../src/client/target-config.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { run, testIo } from './test-io.js'

const STAGING = 'https://staging.test/v1'

/** A user with a config folder and a working directory of their own. */
function user(env: Readonly<Record<string, string>> = {}) {
  const home = { XDG_CONFIG_HOME: temporaryFolder(), ...env }
  const cwd = temporaryFolder()
  const file = targetConfigFile(home)
  return {
    cwd,
    file,
    keyFile: (name: string, text = 'top-secret') => {
      writeFileSync(join(cwd, name), text)
      return join(cwd, name)
    },
    target: async (line: string) => {
      const ended = await run(`target ${line}`, testIo({ env: home, cwd }))
      expect(ended.out + ended.err).not.toContain('top-secret')
      return ended
    },
  }
}

async function listed({ target }: ReturnType<typeof user>): Promise<readonly { readonly name: string }[]> {
  const { code, out } = await target('list --json')
  expect(code).toBe(0)
  return JSON.parse(out)
}

describe('target list', () => {
  it('shows where each value comes from', async () => {
    const one = user()
    const key = one.keyFile('staging.key')
    await one.target(`set staging --base-url ${STAGING} --api-key-file staging.key`)
    await one.target('set mine --base-url http://127.0.0.1:1')
    const unset = { present: false, source: null }
    const at = (value: string, source = one.file) => ({ value, source })
    const sandbox = at('http://127.0.0.1:4010/v1', 'default')
    expect(await listed(one)).toEqual([
      { name: 'sandbox', isDefault: true, baseUrl: sandbox, apiKey: { present: true, source: 'default' } },
      { name: 'staging', isDefault: false, baseUrl: at(STAGING), apiKey: { present: true, source: key } },
      { name: 'production', isDefault: false, baseUrl: null, apiKey: unset },
      { name: 'mine', isDefault: false, baseUrl: at('http://127.0.0.1:1'), apiKey: unset },
    ])
  })

  it('reads well', async () => {
    const { code, out, err } = await user().target('list')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toBe(
      `target      base address              from     key      from
sandbox *   http://127.0.0.1:4010/v1  default  present  default
staging     not set                            none
production  not set                            none
* default target
`,
    )
  })

  it('shows a key file without a key as none, and says why', async () => {
    const one = user()
    const key = one.keyFile('gone.key', 'top-secret and more')
    await one.target(`set staging --base-url ${STAGING} --api-key-file gone.key`)
    const { out, err } = await one.target('list --json')
    expect(JSON.parse(out)[1]).toMatchObject({ apiKey: { present: false, source: key } })
    expect(err).toMatch(/^warning: Key file ".*gone\.key" of the target "staging": must contain a single API key/)
  })
})

describe('target set', () => {
  it('keeps the path of the address, and the place of the key file', async () => {
    const one = user()
    const key = one.keyFile('k')
    const set = { code: 0, out: `staging: ${STAGING}\n`, err: '' }
    expect(await one.target(`set staging --base-url ${STAGING}/ --api-key-file k`)).toEqual(set)
    expect(readFileSync(one.file, 'utf8')).toBe(
      '# Targets of petstore-sandbox, kept by "petstore-sandbox target". A key stays in a file of its own.\n' +
        `\ntargets:\n  staging:\n    base-url: ${STAGING}\n    api-key-file: ${key}\n`,
    )
  })

  it('keeps values that are not given, but no key file for another origin', async () => {
    const one = user()
    const key = one.keyFile('k')
    await one.target(`set staging --base-url ${STAGING}`)
    await one.target('set staging --api-key-file k')
    await one.target('set staging --base-url https://staging.test/next/v1')
    const baseUrl = { value: 'https://staging.test/next/v1' }
    expect((await listed(one))[1]).toMatchObject({ baseUrl, apiKey: { source: key } })
    const { code, err } = await one.target('set staging --base-url https://evil.test/v1')
    expect(code).toBe(0)
    expect(err).toMatch(/^note: Its key file ".*" was for another origin and has been dropped\.\n$/)
    expect((await listed(one))[1]).toMatchObject({ apiKey: { present: false, source: null } })
  })

  it('notes that the key file does not exist yet', async () => {
    const { code, err } = await user().target(`set staging --base-url ${STAGING} --api-key-file later`)
    expect(code).toBe(0)
    expect(err).toMatch(/^note: --api-key-file ".*later": cannot be read \(ENOENT\)\.\n$/)
  })

  it.each([
    ['staging', '--base-url or --api-key-file is needed: there is nothing to set'],
    ['staging --api-key-file k', '--base-url is needed: the target "staging" has no base address yet'],
    ['a/b --base-url http://a', 'Target "a/b": must be up to 64 letters, digits, dots, dashes and underscores'],
    ['x --base-url http://a --api-key-file -', '--api-key-file: must be a permanent file'],
  ])('refuses %s', async (line, problem) => {
    const err = expect.stringContaining(`INVALID_TARGET: ${problem}`)
    expect(await user().target(`set ${line}`)).toEqual({ code: 2, out: '', err })
  })
})

describe('target use', () => {
  it('makes a target the default, until another one is used', async () => {
    const one = user()
    await one.target(`set staging --base-url ${STAGING}`)
    expect(await one.target('use staging')).toEqual({ code: 0, out: `staging: ${STAGING}\n`, err: '' })
    expect((await listed(one)).find((target) => 'isDefault' in target && target.isDefault)?.name).toBe('staging')
    await one.target('use sandbox')
    expect((await listed(one))[0]).toMatchObject({ name: 'sandbox', isDefault: true })
  })

  it('refuses production by any name', async () => {
    const one = user()
    await one.target('set production --base-url https://api.test/v1')
    await one.target('set live --base-url https://api.test/v1')
    for (const name of ['production', 'live']) {
      const err = `INVALID_TARGET: Production cannot be the default target: give -t ${name} each time.\n`
      expect(await one.target(`use ${name}`)).toEqual({ code: 2, out: '', err })
    }
  })

  it.each([
    ['use nope', /^UNKNOWN_TARGET: /],
    ['use staging', /^TARGET_NOT_SET: /],
    ['remove nope', /^UNKNOWN_TARGET: /],
  ])('refuses an unknown target, and one without an address: %s', async (line, err) =>
    expect(await user().target(line)).toEqual({ code: 2, out: '', err: expect.stringMatching(err) }),
  )
})

it('target remove removes a target and resets the default', async () => {
  const one = user()
  await one.target(`set mine --base-url ${STAGING}`)
  await one.target('use mine')
  const removed = { code: 0, out: 'Removed the target mine.\n', err: 'The default target is sandbox again.\n' }
  expect(await one.target('remove mine')).toEqual(removed)
  expect((await listed(one)).map(({ name }) => name)).toEqual(['sandbox', 'staging', 'production'])
  expect((await listed(one))[0]).toMatchObject({ isDefault: true })
})
