import { countdownText } from '../dashboard/clock-text.js'
import { Gauge } from '../dashboard/gauge.js'
import { readLocalClock } from '../dashboard/local-clock.js'
import { OUTCOME_LABELS, OUTCOMES } from '../dashboard/outcome.js'
import { banLeft, minuteAt } from '../dashboard/quota-now.js'
import { useStore } from '../dashboard/store.js'
import { POLICIES, POLICY_NAMES } from './policies.js'
import type { SandboxView } from './sandbox-view.js'
import type { ShopClient } from './shop-client.js'
import { useTicks } from './use-ticks.js'

const RATES = [1, 2, 5, 10] as const

/** The shop's client: its key, how it retries, a loop of it, and what it meets. */
export function ClientPanel({ client, view }: { readonly client: ShopClient; readonly view: SandboxView }) {
  const { key, policy, rate, isLooping } = useStore(client.store, (state) => state)
  const keys = useStore(view.store, ({ state }) => state?.keys)
  return (
    <section class="panel" aria-labelledby="client">
      <h2 id="client">Its client</h2>
      <fieldset class="policies">
        <legend>When it is refused, it retries</legend>
        <div class="row">
          {POLICY_NAMES.map((name) => (
            <label class="choice" key={name}>
              <input
                type="radio"
                name="policy"
                checked={policy === name}
                onChange={() => client.change({ policy: name })}
              />
              {POLICIES[name].label}
            </label>
          ))}
        </div>
      </fieldset>
      <p class="muted policy">{POLICIES[policy].description}</p>
      <div class="fields loop">
        <label>
          Key
          <select value={key} onChange={({ currentTarget }) => client.change({ key: currentTarget.value })}>
            {(keys ?? [{ key, plan: '…', always: null }]).map((one) => (
              <option key={one.key} value={one.key}>
                {`${one.key} (${one.always === null ? one.plan : `always ${one.always}`})`}
              </option>
            ))}
          </select>
        </label>
        <label>
          Lists the pets
          <select value={rate} onChange={({ currentTarget }) => client.change({ rate: Number(currentTarget.value) })}>
            {RATES.map((one) => (
              <option key={one} value={one}>
                {one === 1 ? 'every second' : `${one} times a second`}
              </option>
            ))}
          </select>
        </label>
        {isLooping ? (
          <button type="button" onClick={() => client.stop()}>
            Stop
          </button>
        ) : (
          <button type="button" class="primary" onClick={() => client.start()}>
            Start
          </button>
        )}
      </div>
      <Quota client={client} view={view} />
      <Tries client={client} />
    </section>
  )
}

/** What is left to the client's key. */
function Quota({ client, view }: { readonly client: ShopClient; readonly view: SandboxView }) {
  const name = useStore(client.store, (state) => state.key)
  const key = useStore(view.store, ({ state }) => state?.keys.find((one) => one.key === name))
  const clock = useStore(view.store, (state) => state.clock)
  useTicks(clock !== undefined && !clock.frozen)
  if (key === undefined || clock === undefined) return null
  const now = readLocalClock(clock, performance.now())
  const banned = banLeft(key, now)
  const isOut = banned > 0 || key.always === 'banned' || key.always === 'revoked'
  return (
    <div class="quota">
      <Gauge name="minute" of={name} {...minuteAt(key, now)} isOut={isOut} />
      {banned > 0 ? <p class="banned">Banned for another {countdownText(banned)}</p> : null}
    </div>
  )
}

/** A square for each try, counts of all, and what it waits for. */
function Tries({ client }: { readonly client: ShopClient }) {
  const { tries, counts, waiting, isLooping } = useStore(client.store, (state) => state)
  useTicks(waiting !== undefined)
  const last = tries.at(-1)
  const said = OUTCOMES.filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${counts[outcome]} ${OUTCOME_LABELS[outcome]}`)
    .join(', ')
  return (
    <>
      <div class="tries" role="img" aria-label={`Tries: ${said === '' ? 'none' : said}`}>
        {tries.map(({ number, outcome, text }) => (
          <span key={number} class={`try ${outcome}`} title={text} />
        ))}
      </div>
      <p class="now">
        {waiting !== undefined ? (
          <>
            Waits {countdownText(waiting.until - client.pauses.now())} after try {waiting.tries}.{' '}
            <button type="button" class="plain" onClick={() => client.pauses.endAll()}>
              Try now
            </button>
          </>
        ) : isLooping ? (
          `Sends. Last answer: ${last?.text ?? 'none yet'}.`
        ) : last === undefined ? (
          'Has not sent anything.'
        ) : (
          `Rests. Last answer: ${last.text}.`
        )}
      </p>
      <dl class="counts">
        {OUTCOMES.map((outcome) => (
          <div key={outcome}>
            <dt>
              <span class={`dot ${outcome}`} />
              {OUTCOME_LABELS[outcome]}
            </dt>
            <dd>{counts[outcome].toLocaleString('en')}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}
