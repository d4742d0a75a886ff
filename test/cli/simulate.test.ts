import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { SimulationReport } from '../../src/simulate/report.js'
import { harEntry, harText, ncsaLine, type Sent } from '../simulate/traffic.js'
import { start } from './built.js'
import { run, testIo } from './test-io.js'

const AT = Date.parse('2026-03-01T10:00:00Z')

const BURST: readonly Sent[] = Array.from({ length: 75 }, (_, index) => ({ at: AT + index * 100, key: 'sandbox' }))

/** Runs `simulate` on a file of some content. */
function simulate(content: string | Buffer, flags = '', io = testIo()) {
  writeFileSync(join(io.cwd, 'traffic'), content)
  return run(`simulate traffic${flags}`, io)
}

describe('simulate', () => {
  it('shows which plan is enough, for each key and for all', async () => {
    const log = `${BURST.map((sent) => ncsaLine(sent)).join('\n')}\nnonsense\n`
    const { code, out, err } = await simulate(log, ' --scale 2')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.split('\n')).toEqual([
      'traffic (access log): 75 requests of 1 key, 2026-03-01 10:00:00 to 10:00:07 UTC',
      '! 1 line could not be read: line 76 is not a line of a common or combined log.',
      '',
      'PLAN        PER MIN  PER DAY  REFUSED  MINUTE  DAY  BANNED  KEYS  UP TO',
      'free        60       1000     15       10      0    5       1     ×0.8',
      'pro         300      10000    0        0       0    0       0     ×4',
      'business    1000     100000   0        0       0    0       0     ×13.33',
      'enterprise  10000    1000000  0        0       0    0       0     ×133',
      '',
      'KEY      REQUESTS  PEAK/MIN  PEAK/DAY  ON FREE  ENOUGH  UP TO',
      'sandbox  75        75        75        15       pro     ×4',
      '',
      'TRAFFIC  FREE        PRO       BUSINESS      ENTERPRISE',
      '×2       refuses 90  –         –             –',
      'breaks   above ×0.8  above ×4  above ×13.33  above ×133',
      '',
      'The cheapest plan that refuses nothing is pro, up to ×4 this traffic.',
      '',
    ])
  })

  it('fits a terminal', async () => {
    const io = testIo({ tty: true })
    io.stdout.columns = 60
    const { out } = await simulate(harText(BURST), ' --host api.example', io)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours take no cell
    const widths = out.split('\n').map((line) => line.replace(/\u001b\[\d+m/g, '').length)
    expect(Math.max(...widths)).toBeLessThanOrEqual(60)
  })

  it('writes the whole report as JSON, also for a compressed file', async () => {
    const { code, out } = await simulate(gzipSync(harText(BURST)), ' -o json')
    const keys = [{ key: 'sandbox', headRoom: 4 }]
    const report = { input: { form: 'har', read: 75 }, from: '2026-03-01T10:00:00.000Z', cheapest: 'pro', keys }
    expect({ code, report: JSON.parse(out) }).toMatchObject({ code: 0, report })
  })

  it('writes a page that loads nothing, whatever is in the traffic', async () => {
    const sent = BURST.map((one) => ({ ...one, headers: { 'x-client': '<script>alert(1)</script>"\'&' } }))
    const { code, out } = await simulate(harText(sent), ' -o html --key-field X-Client --scale 1..3')
    expect(code).toBe(0)
    expect(out).toContain("default-src 'none'; style-src 'sha256-")
    expect(out).toContain('&lt;script&gt;')
    expect(out).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son\w+=|style=|href=|src=/)
    expect(out).toContain('aria-label="Requests in the minute window of &lt;script&gt;')
  })

  it.each([
    ['missing', /^TRAFFIC_UNREADABLE: "missing" cannot be read \(ENOENT\)\. Check the path\.$/],
    ['folder', /^TRAFFIC_UNREADABLE: "folder" cannot be read \(it is a folder, not a file\)\./],
    ['text', /^TRAFFIC_UNKNOWN: "text" is in an unknown format\. Give an HTTP archive/],
    ['other', /^NOTHING_SIMULATED: 2 requests read, none for \/v1; most are for \/api\. Set the right --base-path and/],
    ['empty.har', /^NOTHING_SIMULATED: The input contains no readable request\.$/],
  ])('fails on %s with advice', async (file, message) => {
    const io = testIo()
    mkdirSync(join(io.cwd, 'folder'))
    writeFileSync(join(io.cwd, 'text'), 'hello')
    writeFileSync(join(io.cwd, 'empty.har'), harText([]))
    writeFileSync(join(io.cwd, 'other'), `${ncsaLine({ at: AT, target: '/api/pets' })}\n`.repeat(2))
    const { code, err } = await run(`simulate ${file}`, io)
    expect(code).toBe(1)
    expect(err.trim()).toMatch(message)
    expect((await run('simulate other --base-path /api', io)).code).toBe(0)
  })

  it.each(['--scale 3..1', '--base-path v1', '--host https://api.example/', '--output xml'])(
    'refuses %s',
    async (flags) => expect(await simulate(harText(BURST), ` ${flags}`)).toMatchObject({ code: 2, out: '' }),
  )

  it('reads an input larger than its memory', async () => {
    // Prints its peak memory at exit.
    const report = `data:text/javascript,process.on("exit",()=>console.error(process.resourceUsage().maxRSS))`
    const { child, stdout, stderr, ended } = start(['simulate', '-', '-o', 'json'], { node: ['--import', report] })
    // Bodies of pictures, and many small entries: 200 MB.
    const picture = JSON.stringify({ ...harEntry({ at: AT, key: 'sandbox' }), _picture: 'x'.repeat(8_000_000) })
    const small = `${JSON.stringify(harEntry({ at: AT, key: 'sandbox' }))},\n`.repeat(500)
    const write = async (text: string) => {
      if (!child.stdin.write(text)) await once(child.stdin, 'drain')
    }
    await write('{"log":{"entries":[\n')
    for (let round = 0; round < 24; round++) await write(`${small}${picture},\n`)
    child.stdin.end(`${picture}]}}`)
    expect(await ended).toBe(0)
    expect(JSON.parse(stdout.text)).toMatchObject({ requests: 24 * 501 + 1, input: { bad: { count: 0 } } })
    expect(Number(stderr.text)).toBeLessThan(220 * 1024)
  })
})

describe('exec --har', () => {
  it('writes an archive that simulate reads with the same figures', async () => {
    const io = testIo({ env: { PATH: process.env.PATH ?? '' } })
    const script = `
      const ask = (key, path) => fetch(process.env.PETSTORE_BASE_URL + path, { headers: { Authorization: 'Bearer ' + key } })
      for (let i = 0; i < 75; i++) await ask('sandbox', '/pets?limit=1')
      await ask('sandbox-pro~checkout', '/pets?limit=0')
      await ask('wrong', '/pets')`
    const flags = ['--har', 'out/run.har', '--report', 'out/conduct.json', '--log-limit', '3']
    const command = [process.execPath, '--input-type=module', '-e', script]
    expect((await run(['exec', ...flags, '--', ...command], io)).code).toBe(0)
    const text = readFileSync(join(io.cwd, 'out/run.har'), 'utf8')
    expect(JSON.parse(text).log.entries).toHaveLength(77)
    expect(text).not.toContain('Bearer sandbox')
    const { code, out } = await run('simulate out/run.har -o json', io)
    expect(code).toBe(0)
    const { whatIf } = JSON.parse(readFileSync(join(io.cwd, 'out/conduct.json'), 'utf8'))
    const { requests, plans, keys }: SimulationReport = JSON.parse(out)
    expect(requests).toBe(whatIf.requests)
    expect(whatIf.plans).toMatchObject(plans.map(({ refused }) => ({ refused })))
    expect(keys.map(({ key }) => key)).toEqual(['sandbox', 'sandbox-pro~checkout'])
  })

  it('fails before the command runs if the archive cannot be written', async () => {
    const io = testIo({ env: { PATH: process.env.PATH ?? '' } })
    mkdirSync(join(io.cwd, 'folder'))
    const { code, err } = await run('exec --har folder -- true', io)
    expect(code).toBe(125)
    const problem = /^CANNOT_WRITE: The archive ".*folder" could not be written \(it is a folder, not a file\)\./
    expect(err).toMatch(problem)
  })
})
