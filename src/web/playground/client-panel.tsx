import { Gauge } from '../dashboard/gauge.js'
import { banLeft, isOut, minuteAt } from '../dashboard/quota-now.js'
import { countdownText, OUTCOME_LABELS, OUTCOMES, outcomesText, timesText } from '../format.js'
import { conduct, pageTime, spaceTime, state } from '../state.js'
import { Field } from '../ui.js'
import { POLICIES, POLICY_NAMES } from './policies.js'
import * as client from './shop-client.js'

const RATES = [1, 2, 5, 10].map((rate) => [rate, rate === 1 ? 'every second' : `${rate} times a second`] as const)

export function ClientPanel() {
  const { key, policy, rate } = client
  const keys = state.value?.keys ?? [{ key: key.value, plan: '…', always: null }]
  return (
    <section class="panel" aria-labelledby="client">
      <h2 id="client">Its client</h2>
      <fieldset class="policies">
        <legend>Retry policy</legend>
        <div class="row">
          {POLICY_NAMES.map((name) => (
            <label class="choice" key={name}>
              <input
                type="radio"
                name="policy"
                checked={policy.value === name}
                onChange={() => {
                  policy.value = name
                }}
              />
              {POLICIES[name].label}
            </label>
          ))}
        </div>
      </fieldset>
      <p class="muted policy">{POLICIES[policy.value].description}</p>
      <div class="fields loop">
        <Field
          label="Key"
          value={key.value}
          choices={keys.map(({ key: name, plan, always }) => [name, `${name} (${always ? `always ${always}` : plan})`])}
          choose={(name) => {
            key.value = name
          }}
        />
        <Field
          label="Lists the pets"
          value={rate.value}
          choices={RATES}
          choose={(chosen) => {
            rate.value = Number(chosen)
          }}
        />
        {client.isLooping.value ? (
          <button type="button" onClick={client.stopLoop}>
            Stop
          </button>
        ) : (
          <button type="button" class="primary" onClick={client.startLoop}>
            Start
          </button>
        )}
      </div>
      <Quota />
      <Attempts />
    </section>
  )
}

function Quota() {
  const key = state.value?.keys.find((known) => known.key === client.key.value)
  const now = spaceTime.value
  if (key === undefined || now === undefined) return null
  const banned = banLeft(key, now)
  return (
    <div class="quota">
      <Gauge name="minute" of={key.key} {...minuteAt(key, now)} isOut={isOut(key, now)} />
      {banned > 0 ? <p class="banned">Banned for another {countdownText(banned)}</p> : null}
    </div>
  )
}

function Attempts() {
  const { attempts, counts, waiting, isLooping } = client
  const last = attempts.value.at(-1)?.text
  return (
    <>
      <div class="tries" role="img" aria-label={`Tries: ${outcomesText(counts.value) || 'none'}`}>
        {attempts.value.map(({ number, outcome, text }) => (
          <span key={number} class={`try ${outcome}`} title={text} />
        ))}
      </div>
      <p class="now">
        {waiting.value !== undefined ? (
          <>
            Waits {countdownText(pageTime.value && waiting.value.until - client.clientTime())} after try{' '}
            {waiting.value.attempts}.{' '}
            <button type="button" class="plain" onClick={client.tryNow}>
              Try now
            </button>
          </>
        ) : isLooping.value ? (
          `Sending. Last response: ${last ?? 'none yet'}.`
        ) : last === undefined ? (
          'No requests yet.'
        ) : (
          `Idle. Last response: ${last}.`
        )}
      </p>
      <dl class="counts">
        {OUTCOMES.map((outcome) => (
          <div key={outcome}>
            <dt>
              <span class={`dot ${outcome}`} />
              {OUTCOME_LABELS[outcome]}
            </dt>
            <dd>{counts.value[outcome].toLocaleString('en')}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

const VERDICTS = {
  unjudged: 'nothing yet',
  clean: 'follows the rules',
  warning: 'has warnings',
  violation: 'violates the rules',
} as const

export function ConductPanel() {
  if (conduct.value === undefined) return null
  const { requests, violations, warnings, whatIf } = conduct.value
  const verdict =
    requests === 0 ? 'unjudged' : violations.length > 0 ? 'violation' : warnings.length > 0 ? 'warning' : 'clean'
  const judged = requests === 1 ? 'One request' : `${requests.toLocaleString('en')} requests`
  return (
    <section class="panel" aria-labelledby="conduct">
      <div class="row between">
        <h2 id="conduct">Conduct</h2>
        <span class={`tag ${verdict}`} role="status">
          {VERDICTS[verdict]}
        </span>
      </div>
      <ul class="findings">
        {[...violations, ...warnings].map(({ rule, key, operation, message, count, exchanges }) => (
          <li key={`${rule} ${key} ${operation}`}>
            <a href={`__sandbox/#filter=${encodeURIComponent(`id:${exchanges.join(',')}`)}`} class="mono">
              {rule}
            </a>{' '}
            <span class="muted">{timesText(count)}</span>
            <p>{message}</p>
          </li>
        ))}
      </ul>
      <p class="muted">
        {requests === 0
          ? 'Each request is checked against the rules of the service. Start the loop, use up the quota, and change the retry policy.'
          : `${judged} judged.${whatIf.cheapest === null ? '' : ` The plan ${whatIf.cheapest} would not have refused any.`}`}
      </p>
    </section>
  )
}
