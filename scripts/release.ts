import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageDirectory } from '../src/system/package-files.js'

// Prepares a release: checks version, changelog and contents, and leaves the tarball and its SBOM in release/. The
// workflow publishes them. `--dry-run` expects the entries of the changelog under Unreleased, and only shows how the
// contents differ from the last release. `--accept` records the contents.

const MAX_TARBALL_BYTES = 3_200_000
/** Files of the last release, without the hashes of bundled files. */
const CONTENTS = join(packageDirectory, 'scripts/release-contents.txt')
const OUTPUT = join(packageDirectory, 'release')

const isDryRun = process.argv.includes('--dry-run')
const problems: string[] = []

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

const { name, version } = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8'))
step(`${name} ${version}`)
const isNumbered = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)
if (!isNumbered) problems.push(`package.json: version ${version} is not a semantic version`)
const { GITHUB_REF_NAME: tag = `v${version}` } = process.env
if (!isDryRun && tag !== `v${version}`) problems.push(`the tag is ${tag}, but the version is ${version}`)

step('changelog')
const changelog = readFileSync(join(packageDirectory, 'CHANGELOG.md'), 'utf8')
const section = changelog.split(/^## /m).find((text) => text.startsWith(`[${isDryRun ? 'Unreleased' : version}]`))
if (section === undefined || !/^- /m.test(section))
  problems.push(`CHANGELOG.md has no entries for ${isDryRun ? 'Unreleased' : version}`)

step('checks')
run('npm', ['run', '--silent', 'check'], 'inherit')

step('pack')
mkdirSync(OUTPUT, { recursive: true })
const [packed]: Packed[] = JSON.parse(
  run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', OUTPUT, '--loglevel', 'error']),
)
if (packed === undefined) throw new Error('npm pack made no tarball')
process.stdout.write(`${join('release', packed.filename)}: ${packed.size} bytes, ${packed.files.length} files\n`)
if (packed.size > MAX_TARBALL_BYTES) problems.push(`the tarball is larger than ${MAX_TARBALL_BYTES} bytes`)

step('contents, compared with the last release')
const contents = [...new Set(packed.files.map(({ path }) => path.replace(/-[A-Z0-9]{8}(?=\.js$)/, '')))].sort()
const before = readFileSync(CONTENTS, 'utf8').trim().split('\n')
const changes = [
  ...contents.filter((path) => !before.includes(path)).map((path) => `+ ${path}\n`),
  ...before.filter((path) => !contents.includes(path)).map((path) => `- ${path}\n`),
]
process.stdout.write(changes.join('') || 'no difference\n')
if (process.argv.includes('--accept')) writeFileSync(CONTENTS, `${contents.join('\n')}\n`)
else if (!isDryRun && changes.length > 0) problems.push('the contents differ: record them with -- --dry-run --accept')

step('SBOM')
const sbom = run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--loglevel', 'error'])
writeFileSync(join(OUTPUT, `${name}-${version}.cdx.json`), sbom)
process.stdout.write(`${JSON.parse(sbom).components.length} packages, bundled or used to build\n`)

if (problems.length > 0) {
  process.stderr.write(`\nNot ready:\n${problems.map((problem) => `  ${problem}\n`).join('')}`)
  process.exitCode = 1
} else process.stdout.write('\nReady. A tag with the version publishes it: .github/workflows/release.yml\n')

function step(title: string): void {
  process.stdout.write(`--- ${title}\n`)
}

function run(command: string, args: readonly string[], stdout: 'pipe' | 'inherit' = 'pipe'): string {
  const done = spawnSync(command, args, {
    cwd: packageDirectory,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', stdout, 'inherit'],
  })
  if (done.status === 0) return done.stdout ?? ''
  process.stderr.write(`\nNot ready: ${command} ${args.join(' ')} failed.\n`)
  process.exit(1)
}
