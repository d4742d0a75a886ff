import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { packageDirectory } from '../../src/system/package-files.js'
import { builtImports } from '../support/built-imports.js'

const dist = join(packageDirectory, 'dist')
const manifest = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8'))

it('a user’s install brings no other package', async () => {
  expect(manifest.dependencies).toBeUndefined()
  const programs = readdirSync(dist).filter((name) => name.endsWith('.js'))
  const asked = [...(await builtImports(programs)).values()].flat().filter(({ isFile }) => !isFile)
  const packages = new Set(asked.map(({ name }) => name).filter((name) => !isBuiltin(name)))
  expect([...packages].sort()).toEqual(['@playwright/test', 'msw', 'vitest'])
})

it('the tarball has what users need, in at most 3.2 MB', () => {
  const pack = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const { stdout } = spawnSync('npm', pack, { cwd: packageDirectory, encoding: 'utf8' })
  const [{ size, unpackedSize, files }]: [{ size: number; unpackedSize: number; files: { path: string }[] }] =
    JSON.parse(stdout)
  expect(size).toBeLessThanOrEqual(3_200_000)
  // The container image adds only the unpacked package to its base.
  expect(unpackedSize).toBeLessThanOrEqual(60_000_000)
  const unwanted = /^(?:docs\/decisions|src|test|scripts|\.|.*\.(?:map|tgz)$)/
  const packed = files.map(({ path }) => path)
  expect(packed.filter((path) => unwanted.test(path))).toEqual([])
  const readme = readFileSync(join(packageDirectory, 'README.md'), 'utf8')
  const links = Array.from(readme.matchAll(/(?:\]\(|src(?:set)?=")([\w./-]+)/g), ([, link]) => link)
  expect(links.length).toBeGreaterThan(10)
  // These pictures would be a thirtieth of the package.
  const isLeftOut = (link: string) => /^(?:https?:|docs\/dashboard.*\.webp$)/.test(link)
  expect(links.filter((link = '') => !packed.includes(link) && !isLeftOut(link))).toEqual([])
})

it('the workflow of a release runs scripts of the package, and may sign the provenance', () => {
  const file = join(packageDirectory, '.github/workflows/release.yml')
  const { jobs } = parse(readFileSync(file, 'utf8')) as {
    jobs: { publish: { permissions: object; steps: { run?: string }[] } }
  }
  const commands = jobs.publish.steps.flatMap(({ run = '' }) => /^npm (.*)/.exec(run)?.[1] ?? [])
  expect(jobs.publish.permissions).toEqual({ contents: 'read', 'id-token': 'write' })
  expect(commands.slice(-2)).toEqual(['run release', 'publish ./release/*.tgz --provenance --access public'])
  expect(manifest.scripts.release).toBe('tsx scripts/release.ts')
})

it('names the licence of each package in the bundle', () => {
  const notices = readFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), 'utf8')
  const names = [...notices.matchAll(/^(\S+) \d+\.\d+\.\d+\S* \((.+)\)$/gm)].map(([, name]) => name)
  const some = ['@scalar/api-reference', '@stoplight/prism-http', 'ajv', 'undici', 'vue', 'yaml']
  expect(names).toEqual(expect.arrayContaining(some))
})
