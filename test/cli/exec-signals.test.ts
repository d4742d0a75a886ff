import { spawnSync } from 'node:child_process'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { STEP_PATIENCE_MS } from '../support/patience.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { BIN, isRunning, startProgram } from './built.js'

// The built program in a process of its own, for what only real processes show.

const SUMMARY = /^petstore-sandbox: \d+ requests?; .*$/m

/** Starts `exec` with a command that prints process ids on one line, its own among them: it is ready by then. */
async function start(command: readonly string[], wrap = (argv: readonly string[]) => argv) {
  const [program = '', ...argv] = wrap([process.execPath, BIN, 'exec', '--', ...command])
  const place = { cwd: temporaryFolder(), env: { PATH: process.env.PATH } }
  const { child, stdout, stderr, ended } = startProgram(program, argv, place)
  const [line] = await stdout.seen(/^\d[\d ]*(?=\r?\n)/m)
  const pids = line.trim().split(' ').map(Number)
  onTestFinished(() => {
    for (const pid of pids) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
  })
  return { child, pids, ended: ended.then((code) => ({ code, out: stdout.text, err: stderr.text })) }
}

async function expectGone(pids: readonly number[]): Promise<void> {
  await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), { timeout: STEP_PATIENCE_MS, interval: 20 })
}

/** Repeats a signal while the command lives: the first is passed on, those within 100 ms are the same, the next one counts. */
function again(pids: readonly number[], signal: () => void): void {
  const timer = setInterval(() => pids.some(isRunning) && signal(), 20)
  onTestFinished(() => clearInterval(timer))
}

function node(script: string): readonly string[] {
  return [process.execPath, '-e', script]
}

const READY = 'console.log(process.pid); setInterval(() => {}, 1000);'
const WAITS = ['sh', '-c', 'sleep 1000 & echo $$ $!; wait']
const IGNORES = "for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});"
/** Ends with 10 plus the number of signals, after enough round trips for exec to pass them all on. */
const COUNTS = `let count = 0
process.on('SIGINT', async () => {
  if (count++ > 0) return
  for (let i = 0; i < 20; i++) await (await fetch(process.env.PETSTORE_SANDBOX_URL + '/health')).text()
  process.exit(10 + count)
});`

describe.skipIf(process.platform === 'win32')('the end of exec', () => {
  const KILLED = "console.log(process.pid); process.kill(process.pid, 'SIGKILL')"
  it.each([
    ['128 and the number of the signal that ended its command', node(KILLED), 137],
    ['it although a process ignores SIGTERM', ['sh', '-c', "(trap '' TERM; sleep 1000) & echo $$ $!; exit 3"], 3],
  ])('is with %s, after printing the summary', async (_what, command, code) => {
    const { ended, pids } = await start(command)
    expect(await ended).toMatchObject({ code, err: expect.stringMatching(SUMMARY) })
    await expectGone(pids)
  })
})

describe.skipIf(process.platform === 'win32')('a signal to exec', () => {
  it.each([
    ['SIGHUP', 129],
    ['SIGQUIT', 131],
    ['SIGTERM', 9, node(`process.on('SIGTERM', () => process.exit(9)); ${READY}`)],
  ] as const)('is passed on: %s, and ends with %i', async (signal, code, command = WAITS) => {
    const { child, ended, pids } = await start(command)
    child.kill(signal)
    expect(await ended).toMatchObject({ code, err: expect.stringMatching(SUMMARY) })
    await expectGone(pids)
  })

  it('reaches the command once even if npm sends it twice', async () => {
    const { child, ended } = await start(node(COUNTS + READY))
    child.kill('SIGINT')
    child.kill('SIGINT')
    expect((await ended).code).toBe(11)
  })

  it('ends all when it comes again later', async () => {
    const { child, ended, pids } = await start(node(IGNORES + READY))
    again(pids, () => child.kill('SIGHUP'))
    expect(await ended).toMatchObject({ code: 137, err: expect.stringMatching(SUMMARY) })
    await expectGone(pids)
  })
})

/** Gives a command a terminal by util-linux's script; other systems' versions take other flags. */
const TERMINAL = 'script'
const hasTerminal =
  process.platform === 'linux' &&
  spawnSync(TERMINAL, ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux')

/** The same on its own terminal, where input is typed. The shell must not interfere. */
function onTerminal(argv: readonly string[]): readonly string[] {
  const command = argv.map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`).join(' ')
  return [TERMINAL, '--quiet', '--flush', '--return', '--command', `exec ${command}`, '/dev/null']
}

describe.runIf(hasTerminal)('exec on a terminal', () => {
  const CTRL_C = '\u0003'
  const ANSWERS = `console.log(process.pid); process.stdin.once('data', (text) => process.exit(String(text) === 'yes\\n' ? 21 : 22))`

  it.each([
    [node(COUNTS + READY), CTRL_C, 11, /petstore-sandbox: \d+ requests?;/],
    [node(ANSWERS), 'yes\n', 21, /./],
  ])('leaves Ctrl-C and input to the terminal: %j', async (command, keys, code, out) => {
    const { child, ended, pids } = await start(command, onTerminal)
    child.stdin?.write(keys)
    expect(await ended).toMatchObject({ code, out: expect.stringMatching(out) })
    await expectGone(pids)
  })

  it('ends the command on a later Ctrl-C', async () => {
    const { child, ended, pids } = await start(node(IGNORES + READY), onTerminal)
    again(pids, () => child.stdin?.write(CTRL_C))
    expect((await ended).code).toBe(137)
    await expectGone(pids)
  })
})
