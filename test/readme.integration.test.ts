import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROBLEMS } from '../src/domain/problems.js'
import { SETTING_NAMES } from '../src/domain/settings.js'
import { flagName, NAMED_OPTIONS } from '../src/options/names.js'
import { packagedScenarios } from '../src/options/scenario-file.js'
import { packageDirectory } from '../src/system/package-files.js'
import { type SpawnedServe, spawnServe } from './support/spawned-serve.js'

const README = readFileSync(join(packageDirectory, 'README.md'), 'utf8')

interface Block {
  readonly script: string
  /** What it prints, where the README says so. */
  readonly output: string | undefined
}

/** Shell blocks that are meant to be run, each with the text block that follows it. */
const BLOCKS: readonly Block[] = [...README.matchAll(/```sh\n(.*?)```\n(?:\n```text\n(.*?)```)?/gs)].map(
  ([, script = '', output]) => ({ script, output }),
)

describe('the README', () => {
  let server: SpawnedServe
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'readme-'))
    server = await spawnServe(folder)
  })

  afterAll(async () => {
    await server.end('SIGTERM')
    rmSync(folder, { recursive: true })
  })

  it('has commands that do what it says, run one after the other', async () => {
    expect(BLOCKS.length).toBeGreaterThan(3)
    for (const { script, output } of BLOCKS) {
      const here = script.replaceAll('http://127.0.0.1:4010', new URL(server.baseUrl).origin)
      const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', here], { cwd: folder })
      if (output === undefined) expect(stdout).not.toMatch(/"code"/)
      else expect(stdout).toBe(output)
    }
  })

  it('names every error code, and none that there is not', () => {
    const row = README.split('\n').find((line) => line.startsWith('| values of `code`')) ?? ''
    const named = [...row.matchAll(/`([a-z]+_?[a-z_]*)`/g)].map(([, code]) => code).filter((code) => code !== 'code')
    expect(new Set(named)).toEqual(new Set(Object.keys(PROBLEMS)))
  })

  it('names every setting that the control plane changes, and no other', () => {
    const row = README.split('\n').find((line) => line.startsWith('| `GET PATCH /settings`')) ?? ''
    expect(row.split('|')[2]?.trim().split(', ').sort()).toEqual([...SETTING_NAMES].sort())
  })

  it('names no flag that there is not', () => {
    const known = new Set([
      '--help',
      '--version',
      '--open',
      '--watch',
      ...NAMED_OPTIONS.map(({ name }) => flagName(name)),
    ])
    const named = [...README.matchAll(/`(--[a-z][a-z-]+)/g)].map(([, flag]) => String(flag))
    expect(named.filter((flag) => !known.has(flag))).toEqual([])
  })

  it('names every packaged scenario', () => {
    for (const name of packagedScenarios()) expect(README).toContain(`\`${name}\``)
  })
})
