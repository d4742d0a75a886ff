import { type Command, InvalidArgumentError } from 'commander'
import type { StormView } from '../../control/views.js'
import { blows } from '../../domain/storm.js'
import { type EpochMs, formatDuration, parseDuration } from '../../domain/time.js'
import type { StormOption } from '../../options/options.js'
import { readStorm } from '../../options/values/storm.js'
import { durationText, rate } from './arguments.js'
import { done } from './result.js'
import type { VerbCommands } from './verb-commands.js'

export function addStormVerbs(parent: Command, { group, verb, call }: VerbCommands): void {
  const storm = group(parent, 'storm', '429s that no quota explains')
  verb(storm, 'start', 'start a new storm; without a rate it refuses everything', [
    'storm start',
    'storm start 0.3,for=30s',
    'storm start --rate 0.3 --for 30s --every 5m',
  ])
    .argument('[spec]', '<rate>[,for=30s][,every=5m][,retry-after=2s], as for serve', stormOption)
    .option('--rate <rate>', 'share of requests refused, 0 to 1', rate)
    .option('--for <duration>', 'how long it lasts', durationText)
    .option('--every <duration>', 'how often it repeats', durationText)
    .option('--retry-after <duration>', 'Retry-After of refused requests', durationText)
    .action(
      call(async ({ controls }, spec: StormOption | undefined, flags: StormOption) => {
        const value = await controls.storm.start({ ...spec, ...partsOf(flags) })
        return { value, text: stormText(value) }
      }),
    )
  verb(storm, 'show', 'show the storm, if there is one', ['storm show']).action(
    call(async ({ controls }) => {
      const value = await controls.storm.show()
      if (value === null) return { value, text: '', note: 'There is no storm.' }
      return { value, text: stormText(value, Date.parse((await controls.clock.show()).now)) }
    }),
  )
  verb(storm, 'stop', 'stop it', ['storm stop']).action(
    call(async ({ controls }) => {
      await controls.storm.stop()
      return done('The storm has stopped.')
    }),
  )
}

/**
 * `0.3,for=30s since 2026-03-01T10:00:00.000Z; it is over`
 *
 * @param now by the clock of the space; nothing is said of how it is if that is not known
 */
export function stormText(storm: StormView, now?: EpochMs): string {
  const { startedAt, rate: share, for: length, every, retryAfter } = storm
  const part = (name: string, duration: string | null) => (duration === null ? '' : `,${name}=${duration}`)
  return `${share}${part('for', length)}${part('every', every)}${part('retry-after', retryAfter)} since ${startedAt}${now === undefined ? '' : stateOf(storm, now)}`
}

function stateOf({ startedAt, rate: share, for: length, every }: StormView, now: EpochMs): string {
  const part = (name: 'for' | 'every', text: string | null) => {
    const duration = text === null ? undefined : parseDuration(text)
    return duration === undefined ? {} : { [name]: duration }
  }
  const running = { rate: share, startedAt: Date.parse(startedAt), ...part('for', length), ...part('every', every) }
  if (blows(running, now)) return ''
  return every === null || now < running.startedAt ? '; it is over' : '; calm until it comes again'
}

function stormOption(text: string): StormOption {
  const reading = readStorm(text)
  if ('problem' in reading) throw new InvalidArgumentError(reading.problem)
  const { rate: share, for: length, every, retryAfter } = reading.value
  return {
    rate: share,
    ...(length === undefined ? {} : { for: formatDuration(length) }),
    ...(every === undefined ? {} : { every: formatDuration(every) }),
    ...(retryAfter === undefined ? {} : { retryAfter: formatDuration(retryAfter) }),
  }
}

/** The flags of the storm, without those that every verb takes. */
function partsOf({ rate: share, for: length, every, retryAfter }: StormOption): StormOption {
  return {
    ...(share === undefined ? {} : { rate: share }),
    ...(length === undefined ? {} : { for: length }),
    ...(every === undefined ? {} : { every }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  }
}
