import { batch, signal } from '@preact/signals'
import { type DurationMs, type EpochMs, MINUTE_MS, SECOND_MS } from '../../domain/time.js'
import { callVerb } from '../control-api.js'
import { messageOf } from '../format.js'
import { type Client, openClients, receive } from './clients.js'
import { readSetUp, type SetUp, scenarioOf, writeSetUp } from './set-up.js'
import { TIMED_REQUEST, type TimedResponse } from './worker-messages.js'

// A run: five clients that live by the sandbox's clock, which this page moves. The same set-up always gives the same run.

export const RUN_MS: DurationMs = 3 * MINUTE_MS
export const SPEEDS = [1, 10, 30] as const
/** A tab in the background has no frames: it goes on where it was. */
const LONGEST_FRAME_MS: DurationMs = 100
const LONGEST_STEP_MS: DurationMs = 10 * SECOND_MS
const CONDUCT_EVERY_MS: DurationMs = 300

export const setUp = signal<SetUp>(readSetUp('').setUp)
export const clients = signal<readonly Client[]>(openClients(setUp.value.wait, 0))
export const startedAt = signal<EpochMs>(0)
export const now = signal<EpochMs>(0)
export const phase = signal<'starting' | 'running' | 'paused' | 'over' | 'failed'>('starting')
export const speed = signal<number>(10)
export const problems = signal<readonly string[]>([])
export const announcement = signal('')

let queue: Promise<void> = Promise.resolve()
let run = 0
let conductReadAt = 0
let lastStart = 0
const tabs = new BroadcastChannel(`petstore-sandbox ${new URL('.', location.href).pathname}`)
tabs.addEventListener('message', ({ data }: MessageEvent<number>) => {
  if (data < lastStart) return
  run++
  if (phase.value !== 'failed') fail('Another tab has started the clients.')
})

/** With reduced motion, it shows the end at once. */
export function startFromLink(): Promise<void> {
  const read = readSetUp(location.hash)
  batch(() => {
    setUp.value = read.setUp
    problems.value = read.problems
  })
  return startOver()
}

export function startOver(): Promise<void> {
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
  const own = ++run
  lastStart = performance.timeOrigin + performance.now()
  tabs.postMessage(lastStart)
  batch(() => {
    phase.value = 'starting'
    announcement.value = ''
  })
  enqueue(async () => {
    const clock = await callVerb('clock.show', '')
    const start = Math.floor(Date.parse(clock.now) / SECOND_MS) * SECOND_MS
    const opened = openClients(setUp.value.wait, start)
    const beginning = { now: new Date(start).toISOString(), freeze: true }
    const scenario = { ...scenarioOf(setUp.value.conditions), ...beginning }
    for (const { space } of opened) {
      await callVerb('reset', space)
      await callVerb('scenario.apply', space, { scenario })
    }
    if (own !== run) return
    batch(() => {
      clients.value = opened
      startedAt.value = start
      now.value = start
      phase.value = isStill ? 'paused' : 'running'
    })
  })
  return isStill ? advance(RUN_MS) : enqueue(() => void animate(own))
}

export function pause(): void {
  if (phase.value === 'running') phase.value = 'paused'
}

/** In all tabs, because a new worker waits for requests to the old one. Resolves when this tab has no open request. */
export function stop(): Promise<void> {
  run++
  tabs.postMessage(Number.POSITIVE_INFINITY)
  return queue
}

export function resume(): void {
  if (phase.value !== 'paused') void startOver()
  else {
    phase.value = 'running'
    void animate(run)
  }
}

/** Lets the clients live for a time, and shows them a few times on the way. */
export function advance(by: DurationMs): Promise<void> {
  if (by <= LONGEST_STEP_MS) return enqueue(() => step(by))
  enqueue(() => step(LONGEST_STEP_MS))
  return advance(by - LONGEST_STEP_MS)
}

export function change(changed: Partial<SetUp>): Promise<void> {
  setUp.value = { ...setUp.value, ...changed }
  problems.value = []
  history.replaceState(null, '', writeSetUp(setUp.value) || location.pathname)
  if (changed.conditions === undefined) return startOver()
  const scenario = scenarioOf(changed.conditions)
  return enqueue(async () => {
    for (const { space } of clients.value) await callVerb('scenario.apply', space, { scenario })
  })
}

function enqueue(act: () => Promise<void> | void): Promise<void> {
  queue = queue.then(act).catch((error: unknown) => fail(messageOf(error)))
  return queue
}

function fail(message: string): void {
  batch(() => {
    phase.value = 'failed'
    announcement.value = `${message} Start over to run them here.`
  })
}

async function animate(own: number): Promise<void> {
  let before = performance.now()
  while (own === run && phase.value === 'running') {
    const frame = await new Promise<number>((resolve) => requestAnimationFrame(resolve))
    const passed = Math.min(Math.max(0, frame - before), LONGEST_FRAME_MS)
    before = frame
    if (phase.value === 'running') await advance(passed * speed.value)
  }
}

async function step(by: DurationMs): Promise<void> {
  const own = run
  const until = Math.min(now.value + by, startedAt.value + RUN_MS)
  await Promise.all(clients.value.map((client) => live(client, until, own)))
  if (own !== run) return
  const isOver = until === startedAt.value + RUN_MS
  if (isOver || performance.now() - conductReadAt > CONDUCT_EVERY_MS) await readConduct()
  batch(() => {
    now.value = until
    if (!isOver) return
    phase.value = 'over'
    const results = clients.value.map(({ name, counts }) => `${name} ${counts.served}`)
    announcement.value = `After three minutes, lists received: ${results.join(', ')}.`
  })
}

async function live(client: Client, until: EpochMs, own: number): Promise<void> {
  while (client.nextAt < until && own === run) {
    const query = new URLSearchParams({ space: client.space, at: String(client.nextAt) })
    const response = await fetch(`${TIMED_REQUEST}?${query}`)
    if (!response.ok) throw new Error('The sandbox did not respond.')
    receive(client, (await response.json()) as TimedResponse)
  }
}

async function readConduct(): Promise<void> {
  conductReadAt = performance.now()
  await Promise.all(
    clients.value.map(async (client) => {
      client.conduct = await callVerb('conduct', client.space)
    }),
  )
}
