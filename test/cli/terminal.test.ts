import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { STEP_PATIENCE_MS } from '../support/patience.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { Terminal } from '../support/tmux.js'
import { HAS_TMUX } from '../support/tools.js'
import { BIN } from './built.js'
import { get } from './test-io.js'

/** `serve` at a terminal, ready. */
async function serving(node = '', flags = '') {
  const cwd = temporaryFolder()
  const terminal = new Terminal(80, cwd)
  terminal.run(`"${process.execPath}" ${node} "${BIN}" serve --port 0 ${flags}; echo "ended with $?"`)
  const [, baseUrl = ''] = await terminal.sees(/Ready on (\S+)[\s\S]*dashboard/)
  const locator = join(cwd, '.petstore-sandbox/run.json')
  const { pid } = JSON.parse(readFileSync(locator, 'utf8'))
  onTestFinished(async () => {
    terminal.close()
    await gone(pid)
  })
  return { terminal, baseUrl, pid: Number(pid), locator }
}

async function gone(pid: number): Promise<void> {
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), { timeout: STEP_PATIENCE_MS, interval: 20 })
}

describe.skipIf(!HAS_TMUX)('serve at a terminal', () => {
  it('runs the action of each key', async () => {
    const { terminal, baseUrl } = await serving('', '--freeze --now 2026-03-01T10:00:00Z')
    terminal.type('t')
    await terminal.sees(/control {2}Clock advanced by 1m to 2026-03-01T10:01:00/)
    terminal.type('s')
    await terminal.sees(/control {2}Storm started: all requests get 429 for 30s/)
    expect((await get({ baseUrl }, '/pets')).status).toBe(429)
    terminal.type('s')
    await terminal.sees(/control {2}Storm stopped/)
    expect((await get({ baseUrl }, '/pets')).status).toBe(200)
    terminal.type('r')
    await terminal.sees(/state\? \[y\/N\]/)
    terminal.type('t')
    await terminal.sees(/Cancelled/)
    terminal.type('r')
    await terminal.sees(/y\/N\][\s\S]*y\/N\]/)
    terminal.type('y')
    await terminal.sees(/control {2}Reset the default space to its start: pets 60, orders 6/)
    terminal.type('c')
    while (terminal.rows().join('').trim() !== '') await new Promise((resolve) => setTimeout(resolve, 20))
    terminal.type('q')
    await terminal.sees(/ended with 0/)
    await terminal.becomes('cooked')
  })

  it.each([
    ['Ctrl-C', (terminal: Terminal): void => terminal.type('C-c'), /ended with 0/],
    ['Ctrl-\\', (terminal: Terminal) => terminal.type('C-\\'), /ended with 131/],
    ['SIGTERM', (_: Terminal, pid: number): unknown => process.kill(pid, 'SIGTERM'), /ended with 0/],
    ['a crash', (_: Terminal, pid: number): unknown => process.kill(pid, 'SIGUSR2'), /ended with [17]/],
  ] as const)('leaves the terminal as it was after %s', async (_what, end, outcome) => {
    const crash = 'data:text/javascript,process.on("SIGUSR2",()=>{throw(new(Error)("crash"))})'
    const { terminal, pid } = await serving(`--import '${crash}'`)
    await terminal.sees(/press h/)
    await terminal.becomes('raw')
    end(terminal, pid)
    await terminal.sees(outcome)
    await terminal.becomes('cooked')
  })

  it('stops on Ctrl-Z, and goes on without keys in the background and in the foreground', async () => {
    const { terminal, baseUrl, pid } = await serving()
    await terminal.sees(/press h/)
    terminal.type('C-z')
    await terminal.sees(/Keys are off[\s\S]*(?:Stopped|Suspended)/)
    await terminal.becomes('cooked')
    terminal.run('bg')
    await get({ baseUrl }, '/pets?in=background')
    await terminal.sees(/in=background/)
    terminal.run('echo mine $((1 + 1))')
    await terminal.sees(/^mine 2$/m)
    terminal.run('fg')
    await get({ baseUrl }, '/pets?in=foreground')
    await terminal.sees(/in=foreground/)
    terminal.type('C-c')
    await gone(pid)
    await terminal.becomes('cooked')
  })

  it('leaves the terminal to the shell in the background with an empty stdin', async () => {
    const cwd = temporaryFolder()
    const terminal = new Terminal(80, cwd)
    terminal.run(`"${process.execPath}" "${BIN}" serve --port 0 </dev/null &`)
    const [, baseUrl = ''] = await terminal.sees(/Ready on (\S+)[\s\S]*dashboard/)
    await get({ baseUrl }, '/pets?from=outside')
    await terminal.sees(/from=outside/)
    expect(terminal.rows().join('\n')).not.toContain('press h')
    terminal.run('echo mine $((1 + 1))')
    await terminal.sees(/^mine 2$/m)
    terminal.run('kill %1; wait; echo "all is $((1 + 1))"')
    await terminal.sees(/all is 2/)
  })

  it('stops cleanly when the terminal is closed', async () => {
    const { terminal, pid, locator } = await serving()
    await terminal.sees(/press h/)
    terminal.close()
    await gone(pid)
    expect(existsSync(locator)).toBe(false)
  })

  it('folds equal lines in a row, and shows each cause of a refusal once', async () => {
    const { terminal, baseUrl } = await serving()
    for (let i = 0; i < 5; i++) await get({ baseUrl }, '/pets', 'sandbox-banned')
    await get({ baseUrl }, '/pets')
    await terminal.sees(/sandbox · 59 left/)
    const rows = terminal.rows().map((row) => row.replace(/^[\d:]{8}/, 'time'))
    const first = rows.findIndex((row) => row.includes('429'))
    expect(rows.slice(first, first + 4)).toEqual([
      expect.stringMatching(/^time {2}429 {2}GET {5}\/v1\/pets {14}ban · sandbox-banned/),
      expect.stringMatching(/^ {2}→ Use another key/),
      expect.stringMatching(/^time {2}429 {2}GET {5}\/v1\/pets {14}ban · sandbox-banned.* {2}×4$/),
      expect.stringMatching(/^time {2}200 {2}GET {5}\/v1\/pets {14}sandbox · 59 left/),
    ])
  })

  it.each([60, 80, 120, 200])('help and verify break lines between words at %s columns', async (columns) => {
    const cwd = temporaryFolder()
    const program = `"${process.execPath}" "${BIN}"`
    const scripts = { help: `${program} verify --help`, verify: `${program} exec -- ${program} verify` }
    for (const [name, text] of Object.entries(scripts))
      writeFileSync(join(cwd, name), `clear; ${text}; echo "done: ${name}"`)
    const terminal = new Terminal(columns, cwd)
    await terminal.sees(/^\$/m)
    for (const name of Object.keys(scripts)) {
      terminal.run(`sh ./${name}`)
      await terminal.sees(new RegExp(`^done: ${name}`, 'm'))
      // A command in an example stays in one piece, to be copied.
      const whole = terminal.unbroken().filter((row) => !row.startsWith('  petstore-sandbox '))
      expect(terminal.rows().filter((row) => !row.startsWith('  petstore-sandbox '))).toEqual(
        expect.arrayContaining(whole),
      )
    }
  })

  it.each([60, 80, 120, 200])('exec and control conduct break lines between words at %s columns', async (columns) => {
    const cwd = temporaryFolder()
    const requests = `for (const key of ['sandbox', 'sandbox', 'sandbox-pro']) for (let i = 0; i < 3; i++)
      await fetch(process.env.PETSTORE_BASE_URL + '/pets?no=such', { headers: { authorization: 'Bearer ' + key } })`
    writeFileSync(join(cwd, 'client.mjs'), requests)
    const program = `"${process.execPath}" "${BIN}"`
    const command = `sh -c 'node client.mjs; ${program} control conduct; ${program} control requests'`
    writeFileSync(
      join(cwd, 'run.sh'),
      `${program} exec --limits 1/min --report r.json --fail-on violation -- ${command}\n`,
    )
    const terminal = new Terminal(columns, cwd)
    // The shell's prompt would move the first row.
    await terminal.sees(/^\$/m)
    terminal.run('sh run.sh')
    // The prompt, after which nothing changes.
    await terminal.sees(/report: r\.json\n\$/)
    expect(terminal.rows()).toEqual(terminal.unbroken())
    expect(terminal.rows().join(' ').replaceAll(/ +/g, ' ')).toContain('no request would have been refused')
  })
})
