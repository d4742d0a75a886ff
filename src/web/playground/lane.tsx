import { countdownText } from '../format.js'
import { Field, Form } from '../ui.js'
import { type Client, OUTCOMES, type Outcome, OWN_SPACE, TASK_MS, type Verdict, verdictOf } from './clients.js'
import { MAX_POLICY_LENGTH, POLICY_NAMES, readPolicy } from './policy.js'
import { change, now, RUN_MS, startedAt } from './run.js'

/** Half seconds in a piece of the strip: pieces wrap, so that all strips have the same lines. */
const PIECE = 20
const PIECES = RUN_MS / TASK_MS / PIECE

type Mark = Outcome | 'waiting'

/** Class of the colour, and a shape in a square of 10 by 10, which tells them apart without colour. */
const SHAPES: Readonly<Record<Mark, readonly [colour: string, shape: string]>> = {
  served: ['answered', 'h10v10h-10z'],
  limited: ['limited', 'h10v4h-10zm0 6h10v4h-10z'],
  banned: ['failed', 'l2 0 3 3 3-3 2 0 0 2-3 3 3 3 0 2-2 0-3-3-3 3-2 0 0-2 3-3-3-3z'],
  broken: ['cut', 'm5 0 5 5-5 5-5-5z'],
  waiting: ['', 'm4 4h2v2h-2z'],
}
const MARKS: Readonly<Record<Mark, string>> = {
  served: 'succeeded',
  broken: 'got no response',
  limited: 'got a 429',
  banned: 'were refused while banned',
  waiting: 'waiting',
}

function Squares({ marks, length = PIECE }: { readonly marks: readonly Mark[]; readonly length?: number }) {
  const paths = new Map<Mark, string>()
  marks.forEach((mark, place) => {
    const start = `M${place * 12 + 1} 1`
    paths.set(mark, (paths.get(mark) ?? '') + start + SHAPES[mark][1])
  })
  return (
    <svg viewBox={`0 0 ${length * 12} 12`} aria-hidden="true">
      {[...paths].map(([mark, d]) => (
        <path key={mark} class={SHAPES[mark][0]} d={d} />
      ))}
    </svg>
  )
}

function Strip({ client }: { readonly client: Client }) {
  const length = Math.ceil((now.value - startedAt.value) / TASK_MS)
  const marks = Array.from({ length }, (_, place): Mark => client.marks[place] ?? 'waiting')
  return (
    <div class="strip" role="img" aria-label={`Requests of ${client.name}: ${historyText(client)}`}>
      {Array.from({ length: PIECES }, (_, piece) => (
        <Squares key={piece} marks={marks.slice(piece * PIECE, (piece + 1) * PIECE)} />
      ))}
    </div>
  )
}

function historyText({ counts }: Client): string {
  const texts = OUTCOMES.filter((outcome) => counts[outcome] > 0).map(
    (outcome) => `${counts[outcome]} ${MARKS[outcome]}`,
  )
  return texts.join(', ') || 'none yet'
}

const VERDICTS: Readonly<Record<Verdict, readonly [text: string, colour: string]>> = {
  unjudged: ['Not judged yet', ''],
  keeps: ['Keeps the rules', 'answered'],
  warned: ['Could do better', ''],
  breaks: ['Breaks the rules', 'failed'],
  banned: ['Banned', 'failed'],
}

function Result({ client }: { readonly client: Client }) {
  const { conduct, counts, space, bannedUntil } = client
  const verdict = verdictOf(client, now.value)
  const [text, colour] = VERDICTS[verdict]
  const left = verdict === 'banned' ? ` · ${countdownText(bannedUntil - now.value)} left` : ''
  const all = OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], 0)
  return (
    <div class="result">
      <p class={`outcome ${colour}`}>{text + left}</p>
      <p>
        <b>{counts.served}</b> lists for <a href={dashboardAddress(space)}>{all} requests</a>
      </p>
      {conduct === undefined ? null : (
        <ul class="findings">
          {[...conduct.violations, ...conduct.warnings].map(({ rule, count, exchanges, message }) => (
            <li key={rule}>
              {count} ×{' '}
              <a href={dashboardAddress(space, `id:${exchanges.join(',')}`)} title={message}>
                {rule}
              </a>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function dashboardAddress(space: string, filter = ''): string {
  return `__sandbox/#${new URLSearchParams({ space, ...(filter === '' ? {} : { filter }) })}`
}

export function Lane({ client }: { readonly client: Client }) {
  const { name, description, policy, space } = client
  return (
    <li class="lane">
      <div class="who">
        <h2>{name}</h2>
        <p class="muted">{description}</p>
        {space === OWN_SPACE ? <OwnPolicy policy={policy} /> : <code>{policy}</code>}
      </div>
      <Strip client={client} />
      <Result client={client} />
    </li>
  )
}

function OwnPolicy({ policy }: { readonly policy: string }) {
  return (
    <Form
      class="row"
      keeps
      send={async (field) => {
        const wait = field('wait') ?? ''
        readPolicy(wait)
        void change({ wait })
      }}
    >
      <Field
        key={policy}
        class="grow mono"
        aria-label="Seconds to wait after a failed request"
        aria-describedby="policy-help"
        name="wait"
        defaultValue={policy}
        maxLength={MAX_POLICY_LENGTH}
        autocapitalize="off"
      />
      <button type="submit">Try it</button>
      <p id="policy-help" class="muted">
        In seconds, from {POLICY_NAMES.join(', ')}, min, max and ? :
      </p>
    </Form>
  )
}

export function Legend() {
  return (
    <ul class="legend row muted">
      <li>One square is half a second:</li>
      {([...OUTCOMES, 'waiting'] as const).map((mark) => (
        <li key={mark} class="row">
          <Squares marks={[mark]} length={1} />
          {MARKS[mark]}
        </li>
      ))}
    </ul>
  )
}
