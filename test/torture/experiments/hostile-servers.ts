import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packageDirectory } from '../../../src/system/package-files.js'
import type { Experiment, Trial } from '../trial.js'

const MIB = 1024 * 1024
/** A command that has not ended by then hangs: the timeouts given are a second. */
const MOST_MS = 60_000
/** An idle command takes about 100, one that unpacks a bomb more. */
const MOST_MIB = 700
const SECRET = 'canary-9d41e7'
/** What a failure may be: it was answered, badly, or not at all; never our own, never a signal. */
const FAIR_ENDS: readonly unknown[] = [0, 3, 4, 5, 6, 7]

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must not come
const DRIVES = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const HOSTILE = '\u001b]52;c;aGk=\u0007\u001b[2J\u009b31m\u0085\u202e\u2066'

type Act = (socket: Socket, asked: string) => void

/** Sends the head, then pieces without end. */
function endless(head: string, piece: Buffer): Act {
  const chunk = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
  return (socket) => {
    socket.write(`HTTP/1.1 ${head}\r\nTransfer-Encoding: chunked\r\n\r\n`)
    const more = () => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', more)
    more()
  }
}

function whole(head: string, body: string | Buffer): Act {
  const bytes = Buffer.from(body)
  return (socket) => {
    socket.write(Buffer.from(`HTTP/1.1 ${head}\r\nContent-Length: ${bytes.length}\r\n\r\n`, 'latin1'))
    socket.end(bytes)
  }
}

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
const BOMB = gzipSync(Buffer.alloc(300 * MIB, 0x20), { level: 9 })
const REFUSAL = JSON.stringify({ code: HOSTILE, message: HOSTILE, status: 400, [HOSTILE]: HOSTILE })

const ACTS: Readonly<Record<string, Act>> = {
  'a body without end': endless('200 OK\r\nContent-Type: application/json', Buffer.alloc(MIB, 0x20)),
  'an error without end': endless('500 Oh', Buffer.alloc(MIB, 0x20)),
  'events without end': endless('200 OK\r\nContent-Type: text/event-stream', Buffer.alloc(MIB, 0x78)),
  'headers without end': (socket) => void socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(MIB)}`),
  'a gzip bomb': whole('200 OK\r\nContent-Encoding: gzip\r\nContent-Type: application/json', BOMB),
  'a body that stalls': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n')
    socket.write(Buffer.alloc(20 * MIB, 0x20))
  },
  silence: () => {},
  'an end': (socket) => void socket.end(),
  'a reset': (socket) => void socket.resetAndDestroy(),
  'deep JSON': whole('200 OK\r\nContent-Type: application/json', DEEP),
  'deep JSON in a refusal': whole('400 Bad\r\nContent-Type: application/json', DEEP),
  'a hostile refusal': whole(`400 ${HOSTILE.slice(0, -2)}\r\nContent-Type: ${HOSTILE.slice(-4, -2)}`, REFUSAL),
  'a hostile value': whole(`200 ${HOSTILE.slice(0, -2)}\r\nContent-Type: application/json`, `[${REFUSAL}]`),
  'a status of 000': whole('000 Weird', '{}'),
  'a status of 999': whole('999 Weird', '{}'),
  'a switch of protocols': (socket) =>
    void socket.end('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  'a redirect': whole('307 Away\r\nLocation: http://127.0.0.1:1/', ''),
  'no HTTP': (socket) => void socket.end('220 mail ready\r\n'),
}

/** Servers that attack a command's memory, time, terminal or secrets. Each command ends soon, with a proper exit code and harmless output. */
export const hostileServers: Experiment = {
  counts: 'commands against a hostile server',
  async run(trial) {
    const folder = trial.folder()
    let most = { mebibytes: 0, what: '' }
    const left = Object.entries(ACTS)
    const count = trial.size(left.length, 5)
    for (let i = 0; i < count; i++) {
      const [chosen] = left.splice(trial.integer(0, left.length), 1)
      if (chosen === undefined) break
      const [what, act] = chosen
      const address = `http://127.0.0.1:${await serverOf(trial, act)}`
      const call = [
        'listPets',
        '--base-url',
        `${address}/v1`,
        '--timeout',
        '1s',
        '--retry',
        '0',
        '-o',
        'json',
        '-i',
        '-v',
      ]
      const control = ['--url', `${address}/__sandbox`, '--timeout', '1s']
      const commands = [
        ['call', ...call],
        ['control', 'status', ...control],
        ['control', 'requests', '-f', ...control],
        // It has no --timeout, and waits 30 s for each response.
        ...(trial.isShort || /silence|stalls/.test(what) ? [] : [['verify', '--base-url', `${address}/v1`]]),
      ]
      for (const { argv, code, said, mebibytes } of await Promise.all(commands.map((argv) => ended(argv, folder)))) {
        if (mebibytes > most.mebibytes) most = { mebibytes, what: `${argv[0]} against ${what}` }
        const told = () => `${argv[0]}, ${what}: it ended with ${code}: ${JSON.stringify(said.slice(0, 300))}`
        // A control plane may refuse.
        trial.check(FAIR_ENDS.includes(code) || (argv[0] === 'control' && code === 1), told)
        // In a pipe, a body that is not JSON is printed as received.
        const isAsReceived = argv[0] === 'call' && what === 'a gzip bomb'
        trial.check(!said.includes('INTERNAL') && (isAsReceived || !DRIVES.test(said)), told)
        trial.check(mebibytes <= MOST_MIB, () => `${argv[0]}, ${what}: it held ${mebibytes} MiB`)
      }
    }
    await keepsSecrets(trial)
    trial.note(`at most ${most.mebibytes} MiB, ${most.what}`)
  },
}

/** A folder that came from elsewhere names a server: no key and no token goes there. */
async function keepsSecrets(trial: Trial): Promise<void> {
  const heard: string[] = []
  const answer = whole('200 OK\r\nContent-Type: application/json', JSON.stringify({ status: 'healthy', version: '1' }))
  const port = await serverOf(trial, (socket, asked) => {
    heard.push(asked)
    answer(socket, asked)
  })
  const origin = `http://127.0.0.1:${port}`
  const startedAt = '2026-03-01T10:00:00.000Z'
  for (const pid of [process.pid, 1, 0, -1, 2 ** 30].slice(0, trial.size(5, 2))) {
    const folder = trial.folder()
    mkdirSync(join(folder, '.petstore-sandbox'))
    const location = { baseUrl: `${origin}/v1`, controlUrl: `${origin}/__sandbox`, pid, startedAt }
    writeFileSync(join(folder, '.petstore-sandbox/run.json'), JSON.stringify(location))
    for (const argv of [
      ['control', 'status'],
      ['call', 'listPets', '--retry', '0'],
    ])
      await ended(argv, folder)
    const told = heard.join('').includes(SECRET)
    trial.check(!told, () => `a locator with the process ${pid} was given a secret`)
  }
}

async function serverOf(trial: Trial, act: Act): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (chunk) => act(socket, chunk.toString('latin1')))
    trial.afterwards(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  trial.afterwards(() => server.close())
  const address = server.address()
  return typeof address === 'object' ? Number(address?.port) : 0
}

interface Ended {
  readonly argv: readonly string[]
  readonly code: number | NodeJS.Signals | null
  readonly said: string
  /** Peak memory, sampled. */
  readonly mebibytes: number
}

async function ended(argv: readonly string[], cwd: string): Promise<Ended> {
  const child = spawn(process.execPath, [join(packageDirectory, 'bin/petstore-sandbox.js'), ...argv], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: cwd,
      PETSTORE_API_KEY: SECRET,
      PETSTORE_SANDBOX_CONTROL_TOKEN: SECRET,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      if (said.length < MIB) said += text
    })
  }
  let mebibytes = 0
  const look = setInterval(() => {
    mebibytes = Math.max(mebibytes, peakOf(child.pid))
  }, 50)
  const patience = setTimeout(() => child.kill('SIGKILL'), MOST_MS)
  const [code, signal] = await once(child, 'close')
  clearInterval(look)
  clearTimeout(patience)
  return { argv, code: code ?? signal, said, mebibytes }
}

/** @source proc(5): VmHWM */
function peakOf(pid: number | undefined): number {
  try {
    return Math.round(Number(/^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)
  } catch {
    return 0
  }
}
