import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resolveTarget, type TargetChoice } from '../../src/client/target.js'
import { changeTargetConfig, readTargetConfig, targetConfigFile } from '../../src/client/target-config.js'
import { startSandbox } from '../../src/index.js'
import { healthOf } from '../support/health-of.js'
import { temporaryFolder } from '../support/temporary-files.js'

const STAGING = 'https://staging.test/v1'
const PRODUCTION = 'https://api.test/animals/v1'

interface Given {
  readonly config?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

/** A folder to work in, and one for the config, both of this test alone. */
function place({ config, env = {}, stdin }: Given = {}) {
  const home = temporaryFolder()
  const cwd = temporaryFolder()
  const readStdin = async () => stdin ?? Promise.reject(new Error('Nobody asked for stdin.'))
  const context = { env: { XDG_CONFIG_HOME: home, ...env }, cwd, readStdin }
  const file = targetConfigFile({ XDG_CONFIG_HOME: home })
  if (config !== undefined) write(file, config)
  return { ...context, file, resolve: (choice: TargetChoice = {}) => resolveTarget(choice, context) }
}

function write(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

/** Staging and production with a key each. */
function twoTargets(env: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder()
  const stagingKey = write(join(folder, 'staging.key'), 'staging-secret\n')
  const productionKey = write(join(folder, 'production.key'), 'production-secret\n')
  const config = `targets:
  staging: { base-url: ${STAGING}, api-key-file: ${stagingKey} }
  production: { base-url: ${PRODUCTION}, api-key-file: ${productionKey} }
`
  return { ...place({ config, env }), stagingKey, productionKey }
}

function locate(cwd: string, location: object): void {
  write(join(cwd, '.petstore-sandbox', 'run.json'), JSON.stringify(location))
}

describe('the target sandbox', () => {
  it('defaults to port 4010 with the key sandbox', async () => {
    const sources = { baseUrl: 'default', apiKey: 'default' }
    const baseUrl = 'http://127.0.0.1:4010/v1'
    const sandbox = { name: 'sandbox', baseUrl, apiKey: 'sandbox', isProduction: false, sources, warnings: [] }
    expect(await place().resolve()).toEqual(sandbox)
  })

  it('is the sandbox that was started in this folder', async () => {
    const { cwd, resolve } = place()
    await using sandbox = await startSandbox({ basePath: '/pets/v1' })
    const { baseUrl, controlUrl } = sandbox
    const { pid, startedAt } = await healthOf(controlUrl)
    locate(cwd, { baseUrl, controlUrl, pid, startedAt })
    const sources = { baseUrl: '.petstore-sandbox/run.json' }
    expect(await resolve()).toMatchObject({ baseUrl, apiKey: 'sandbox', sources })
  })

  it('is the sandbox that exec has started, and never where an application is pointed at', async () => {
    const sandbox = { PETSTORE_SANDBOX_URL: 'http://127.0.0.1:6000/__sandbox' }
    const pathOnly = { PETSTORE_BASE_URL: 'http://127.0.0.1:6000/x/v1' }
    const application = { PETSTORE_BASE_URL: PRODUCTION }
    for (const [env, baseUrl] of [
      [sandbox, 'http://127.0.0.1:6000/v1'],
      [{ ...sandbox, ...pathOnly }, 'http://127.0.0.1:6000/x/v1'],
      [{ ...sandbox, ...application }, 'http://127.0.0.1:6000/v1'],
      [application, 'http://127.0.0.1:4010/v1'],
    ] as const)
      expect((await place({ env }).resolve()).baseUrl).toBe(baseUrl)
  })
})

describe('staging and production', () => {
  it.each(['staging', 'production'])('%s has no address by default, and the error names the command', async (target) =>
    expect(place().resolve({ target })).rejects.toMatchObject({
      code: 'TARGET_NOT_SET',
      message: `The target "${target}" has no base address yet. Set it with "npx petstore-sandbox target set ${target} --base-url <url>".`,
    }),
  )

  it('have the address and key of the config file', async () => {
    const { resolve, file, stagingKey } = twoTargets()
    const staging = { name: 'staging', baseUrl: STAGING, apiKey: 'staging-secret', isProduction: false, warnings: [] }
    const sources = { baseUrl: file, apiKey: stagingKey }
    expect(await resolve({ target: 'staging' })).toEqual({ ...staging, sources })
    const production = { baseUrl: PRODUCTION, apiKey: 'production-secret', isProduction: true }
    expect(await resolve({ target: 'production' })).toMatchObject(production)
  })

  it('can be the default, except production', async () => {
    const staging = place({ config: `use: staging\ntargets:\n  staging: { base-url: ${STAGING} }\n` })
    expect(await staging.resolve()).toMatchObject({ name: 'staging' })
    expect(await staging.resolve({ target: 'sandbox' })).toMatchObject({ name: 'sandbox' })
    const production = place({ config: 'use: production\n' })
    const message = `${production.file}:1:1: use production cannot be the default target`
    await expect(production.resolve()).rejects.toMatchObject({ code: 'INVALID_CONFIG', message })
  })

  it('are recognized by their address', async () => {
    const { resolve } = twoTargets()
    const production = { name: 'production', isProduction: true, apiKey: 'production-secret' }
    expect(await resolve({ baseUrl: `${PRODUCTION}/` })).toMatchObject(production)
    const staging = { name: 'staging', isProduction: true, apiKey: undefined }
    expect(await resolve({ target: 'staging', baseUrl: PRODUCTION })).toMatchObject(staging)
  })

  it('are distinguished by their paths if they share an origin', async () => {
    const [one, other] = ['https://api.test/v1', 'https://api.test/staging/v1']
    const config = `targets:\n  production: { base-url: '${one}' }\n  staging: { base-url: '${other}' }\n`
    const { resolve } = place({ config })
    expect(await resolve({ baseUrl: other })).toMatchObject({ name: 'staging', isProduction: false })
    expect(await resolve({ baseUrl: 'https://api.test/v2' })).toMatchObject({ name: 'production', isProduction: true })
  })
})

it('an unknown target is refused with a list of known targets', async () => {
  await expect(place({ config: 'targets: { mine: {} }' }).resolve({ target: 'stagin' })).rejects.toMatchObject({
    code: 'UNKNOWN_TARGET',
    message: expect.stringContaining('The targets are sandbox, staging, production, mine;'),
  })
})

describe('the key', () => {
  it('comes from the flag, the environment or the target, in this order', async () => {
    const { cwd, resolve } = twoTargets({ PETSTORE_API_KEY: 'from-env' })
    write(join(cwd, 'key.txt'), ' from-flag\n')
    for (const [choice, apiKey, source] of [
      [{ apiKeyFile: 'key.txt' }, 'from-flag', '--api-key-file'],
      [{}, 'from-env', 'PETSTORE_API_KEY'],
    ] as const)
      expect(await resolve({ target: 'staging', ...choice })).toMatchObject({ apiKey, sources: { apiKey: source } })
    const unset = twoTargets({ PETSTORE_API_KEY: '' })
    expect(await unset.resolve({ target: 'staging' })).toMatchObject({ apiKey: 'staging-secret' })
    expect(await place({ stdin: 'piped\n' }).resolve({ apiKeyFile: '-' })).toMatchObject({ apiKey: 'piped' })
  })

  it.each(['http://staging.test/v1', 'https://staging.test:8443/v1', 'https://staging.test.evil.test/v1'])(
    'stored for a target is not sent to %s',
    async (baseUrl) => {
      const { apiKey, warnings } = await twoTargets().resolve({ target: 'staging', baseUrl })
      expect(apiKey).toBeUndefined()
      expect(warnings).toEqual([
        `No API key is sent to ${new URL(baseUrl).origin}: none was given, and the key of the target "staging" is for https://staging.test only. Give one with --api-key-file or in PETSTORE_API_KEY.`,
      ])
    },
  )

  it('of the sandbox is not sent to an unknown address', async () => {
    const { name, apiKey, warnings } = await place().resolve({ baseUrl: 'https://elsewhere.test/v1' })
    expect({ name, apiKey }).toEqual({ name: 'custom', apiKey: undefined })
    const warning = /^No API key is sent to https:\/\/elsewhere\.test: none was given\./
    expect(warnings).toEqual([expect.stringMatching(warning)])
  })

  it('from the environment is sent to a given address, with a warning if it is unencrypted', async () => {
    const { resolve } = place({ env: { PETSTORE_API_KEY: 'mine' } })
    const warning = 'The API key is sent unencrypted to http://elsewhere.test.'
    for (const [origin, warnings] of [
      ['https://elsewhere.test', []],
      ['http://elsewhere.test', [warning]],
      ['http://localhost:1', []],
    ] as const)
      expect(await resolve({ baseUrl: `${origin}/v1` })).toMatchObject({ apiKey: 'mine', warnings })
  })

  it.each([
    ['', 'contains no API key'],
    ['top secret', 'must contain a single API key of visible ASCII characters'],
    ['gehéim', 'must contain a single API key of visible ASCII characters'],
  ])('is refused without showing it: %j', async (text, problem) => {
    const { cwd, resolve } = place()
    write(join(cwd, 'key.txt'), text)
    const message = `--api-key-file "key.txt": ${problem}`
    await expect(resolve({ apiKeyFile: 'key.txt' })).rejects.toMatchObject({ code: 'INVALID_TARGET', message })
  })

  it('names a missing file and its source', async () => {
    const unread = '"nope": cannot be read (ENOENT)'
    await expect(place().resolve({ apiKeyFile: 'nope' })).rejects.toThrow(`--api-key-file ${unread}`)
    const { resolve, file } = place({ config: 'targets: { sandbox: { api-key-file: nope } }' })
    const kept = JSON.stringify(join(dirname(file), 'nope'))
    const message = `Key file ${kept} of the target "sandbox": cannot be read (ENOENT)`
    await expect(resolve()).rejects.toMatchObject({ code: 'INVALID_TARGET', message })
  })
})

describe('a base address', () => {
  it.each([
    ['http://h.test', 'http://h.test'],
    ['https://H.test:443/a/v1//', 'https://h.test/a/v1'],
  ])('%s is %s', async (given, baseUrl) => {
    expect(await place().resolve({ baseUrl: given })).toMatchObject({ baseUrl, sources: { baseUrl: '--base-url' } })
  })

  it.each([
    ['', 'must be an http or https address'],
    ['staging.test/v1', 'must be an http or https address'],
    ['https://user:hunter2@h.test/v1', 'without user and password'],
    ['https://h.test/v1?key=hunter2', 'without query and fragment'],
  ])('%s is refused without showing a password in it', async (baseUrl, problem) => {
    const refused: unknown = await place()
      .resolve({ baseUrl })
      .catch((error) => error)
    expect(refused).toMatchObject({ code: 'INVALID_TARGET', message: expect.stringContaining(problem) })
    expect(String(refused)).not.toContain('hunter2')
  })
})

describe('the config file', () => {
  it('is where XDG says, and a relative place is ignored', () => {
    const file = ['petstore-sandbox', 'config.yaml']
    expect(targetConfigFile({ XDG_CONFIG_HOME: '/x', HOME: '/h' })).toBe(join('/x', ...file))
    expect(targetConfigFile({ XDG_CONFIG_HOME: 'x', HOME: '/h' })).toBe(join('/h', '.config', ...file))
    expect(targetConfigFile({ XDG_CONFIG_HOME: '', HOME: '/h' })).toBe(join('/h', '.config', ...file))
  })

  it('is created with its folder, for its owner only', async () => {
    const env = { XDG_CONFIG_HOME: join(temporaryFolder(), 'new') }
    const kept = { baseUrl: STAGING, apiKeyFile: '/k' }
    await changeTargetConfig(env, { target: { name: 'mine', kept }, use: 'mine' })
    const file = targetConfigFile(env)
    expect(await readTargetConfig(env)).toEqual({ use: 'mine', targets: new Map([['mine', kept]]) })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
    expect(readdirSync(dirname(file))).toEqual(['config.yaml'])
  })

  it('keeps comments and other targets', async () => {
    const withStaging = (baseUrl: string) =>
      `# mine\ntargets:\n  staging:\n    # for tests\n    base-url: ${baseUrl}\n  other:\n    base-url: https://o.test\n`
    const { env, file } = place({ config: withStaging(STAGING) })
    chmodSync(file, 0o644)
    await changeTargetConfig(env, { target: { name: 'staging', kept: { baseUrl: 'https://new.test/v1' } } })
    expect(readFileSync(file, 'utf8')).toBe(withStaging('https://new.test/v1'))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    await changeTargetConfig(env, { target: { name: 'other', kept: null } })
    expect([...(await readTargetConfig(env)).targets.keys()]).toEqual(['staging'])
  })

  it.each(['targets:\n', 'targets:\n  mine:\n', '# nothing\n', '---\n'])('may be empty: %j', async (config) => {
    const { env } = place({ config })
    await changeTargetConfig(env, { target: { name: 'mine', kept: { baseUrl: STAGING } } })
    expect(await readTargetConfig(env)).toEqual({ targets: new Map([['mine', { baseUrl: STAGING }]]) })
  })

  it('is written through a symbolic link', async () => {
    const { env, file } = place()
    const real = write(join(temporaryFolder(), 'dotfiles.yaml'), '')
    mkdirSync(dirname(file), { recursive: true })
    symlinkSync(real, file)
    await changeTargetConfig(env, { target: { name: 'mine', kept: { baseUrl: STAGING } } })
    expect(readFileSync(real, 'utf8')).toContain(STAGING)
  })

  it.each([
    ['targets: [', '1:11: is not valid YAML'],
    ['targets:\n  a: {}\n  a: {}\n', '3:3: is not valid YAML: the same name twice in one map'],
    ['- a', '1:1: the file must be an object'],
    ['targets: 1', '1:1: targets must be an object'],
    ['\ntarget: {}', '2:1: target is unknown; expected use and targets'],
    [
      'targets:\n  staging:\n    api-key: s3cret',
      '3:5: targets.staging.api-key is unknown; expected base-url and api-key',
    ],
    ['targets:\n  staging:\n    base-url: 5', '3:5: targets.staging.base-url must be a string'],
    ['targets:\n  staging:\n    base-url: x', '3:5: targets.staging.base-url "x" must be an http or https address'],
    ['targets:\n  "a b": {}', '2:3: targets.a b must be up to 64 letters'],
    ['use: [a]', '1:1: use must be a string'],
  ])('is refused with its line and not overwritten: %j', async (config, problem) => {
    const { env, file, resolve } = place({ config })
    const refusal = { code: 'INVALID_CONFIG', message: expect.stringContaining(`${file}:${problem}`) }
    await expect(resolve()).rejects.toMatchObject(refusal)
    await expect(changeTargetConfig(env, { use: 'sandbox' })).rejects.toMatchObject(refusal)
    expect(readFileSync(file, 'utf8')).toBe(config)
  })

  it('stays unchanged if it cannot be written', async () => {
    const env = { XDG_CONFIG_HOME: write(join(temporaryFolder(), 'file'), '') }
    await expect(changeTargetConfig(env, { use: 'sandbox' })).rejects.toMatchObject({ name: 'TargetError' })
    expect(existsSync(targetConfigFile(env))).toBe(false)
  })
})
