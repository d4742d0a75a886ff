import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { writeReport } from '../../src/cli/conduct/report-file.js'
import { HarFile } from '../../src/cli/exec/har-file.js'
import { writeLocator } from '../../src/client/locator-file.js'
import { EMPTY_CONDUCT } from '../../src/conduct/total-conduct.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { run, testIo } from './test-io.js'

/** Every file and folder below a folder, with its mode. */
function modesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => `${(statSync(join(folder, name)).mode & 0o777).toString(8)} ${name}`)
    .sort()
}

function withUmask(mask: number): void {
  const umask = process.umask(mask)
  onTestFinished(() => void process.umask(umask))
}

describe.skipIf(process.platform === 'win32')('what the commands write', () => {
  it('can be read by its user only: targets, where a sandbox runs, an archive of the traffic', async () => {
    withUmask(0o022)
    const cwd = temporaryFolder()
    const io = testIo({ cwd, env: { XDG_CONFIG_HOME: join(cwd, 'config') } })
    expect((await run('target set staging --base-url https://staging.example/v1', io)).code).toBe(0)
    const controlUrl = 'http://127.0.0.1:1/__sandbox'
    writeLocator(cwd, { baseUrl: 'http://127.0.0.1:1/v1', controlUrl, pid: 1, startedAt: '' })
    new HarFile(join(cwd, 'traffic', 'all.har'), []).close()
    expect(modesIn(cwd)).toEqual([
      '600 .petstore-sandbox/.gitignore',
      '600 .petstore-sandbox/run.json',
      '600 config/petstore-sandbox/config.yaml',
      '600 traffic/all.har',
      '700 .petstore-sandbox',
      '700 config',
      '700 config/petstore-sandbox',
      '700 traffic',
    ])
  })

  it.each([
    [0o022, '644', '755'],
    [0o007, '660', '770'],
  ])('leaves a report and the files of init to the umask: %o', async (umask, file, folder) => {
    withUmask(umask)
    const cwd = temporaryFolder()
    expect((await run('init', testIo({ cwd }))).code).toBe(0)
    await writeReport(join(cwd, 'reports', 'deep', 'conduct.json'), EMPTY_CONDUCT, {}, [])
    const files = ['fixtures/keys.json', 'fixtures/orders.json', 'fixtures/pets.json', 'sandbox.yaml']
    expect(modesIn(cwd)).toEqual([
      ...[...files.map((name) => `petstore-${name}`), 'reports/deep/conduct.json'].map((name) => `${file} ${name}`),
      ...['petstore-fixtures', 'reports', 'reports/deep'].map((name) => `${folder} ${name}`),
    ])
  })

  it('is never written through a symbolic link', async () => {
    const cwd = temporaryFolder()
    const [link, target] = [join(cwd, 'link'), join(cwd, 'precious')]
    writeFileSync(target, 'as it was')
    symlinkSync(target, link)
    expect(() => new HarFile(link, [])).toThrow(/could not be written \(it is a symbolic link, not a file\)/)
    await expect(writeReport(link, EMPTY_CONDUCT, {}, [])).rejects.toThrow(/it is a symbolic link, not a file/)
    expect(readFileSync(target, 'utf8')).toBe('as it was')
  })
})
