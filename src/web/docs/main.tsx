import { signal, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { keepControlToken, TokenNeeded } from '../control-api.js'
import { messageOf } from '../format.js'
import { Shell, show } from '../shell.js'
import { Field, TokenDialog } from '../ui.js'
import { CHAPTERS } from './chapters.js'
import { placeOf, search } from './contract-model.js'
import { readServed, type Served, served, space } from './docs-state.js'
import { OperationView } from './operation-view.js'
import { schemaWords } from './schema-words.js'
import { SendPanel } from './send-panel.js'
import '../shared.js'
import './style.css'

const failure = signal('')
const isLocked = signal(false)
/** Id of the chapter or operation in the address. */
const place = signal(placeInAddress())

function placeInAddress(): string {
  return decodeURIComponent(location.hash.replace(/^#\/?/, ''))
}

async function load(): Promise<void> {
  isLocked.value = false
  try {
    await readServed()
  } catch (error) {
    if (error instanceof TokenNeeded) isLocked.value = true
    else failure.value = messageOf(error)
  }
}

/** Contents on the left, a chapter or an operation, code and request on the right. */
function DocsPage() {
  return (
    <>
      <Shell page="API docs" space={space}>
        <a class="push" href="openapi.yaml">
          openapi.yaml
        </a>
      </Shell>
      {isLocked.value ? (
        <TokenDialog
          enter={(token) => {
            keepControlToken(token)
            void load()
          }}
        />
      ) : null}
      {served.value === undefined ? (
        <main class="notice">
          <h1>{failure.value === '' ? 'Loading …' : 'The contract cannot be shown'}</h1>
          <p role="alert">{failure}</p>
        </main>
      ) : (
        <Panes served={served.value} />
      )}
    </>
  )
}

function Panes({ served, served: { contract } }: { readonly served: Served }) {
  const query = useSignal('')
  const places = useMemo(
    () => [
      ...contract.operations.map((one) => {
        const schemas = [one.body, ...one.parameters, ...one.responses.map(({ body }) => body)]
        return placeOf(one, schemas.map((of) => schemaWords(contract, of?.schema)).join(' '))
      }),
      ...CHAPTERS.map(({ id, title, text }) => ({ id, title, text: text(contract) })),
    ],
    [contract],
  )
  const found = new Set(search(places, query.value).map(({ id }) => id))
  const operation = contract.operations.find(({ id }) => id === place.value)
  const chapter = operation ? undefined : (CHAPTERS.find(({ id }) => id === place.value) ?? CHAPTERS[0])
  useEffect(() => {
    document.title = `${operation ? `${operation.method} ${operation.path}` : chapter?.title} · petstore-sandbox`
    document.querySelector('.reference')?.scrollTo(0, 0)
    document.querySelector<HTMLElement>('.reference h2')?.focus({ preventScroll: true })
  }, [place.value])
  const shown = contract.operations.filter(({ id }) => found.has(id))
  const tags = [...new Set(shown.map(({ tag }) => tag))]
  return (
    <div class="panes">
      <nav class="contents" aria-label="Contents">
        <h1>
          {contract.title} <small>{contract.version}</small>
        </h1>
        <Field
          label="Search"
          class="stacked"
          type="search"
          value={query.value}
          choose={(text) => (query.value = text)}
        />
        <p class="hidden" role="status">
          {query.value === '' ? '' : `${found.size} found`}
        </p>
        {found.size === 0 ? <p class="muted">No results.</p> : null}
        <ul>
          {CHAPTERS.filter(({ id }) => found.has(id)).map(({ id, title }) => (
            <li key={id}>
              <a href={`#/${id}`} aria-current={id === chapter?.id ? 'page' : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
        {tags.map((tag) => (
          <section key={tag} aria-label={tag || 'Operations'}>
            <h2>{tag || 'Operations'}</h2>
            <ul>
              {shown
                .filter((one) => one.tag === tag)
                .map(({ id, method, path, markers }) => (
                  <li key={id}>
                    <a href={`#/${encodeURIComponent(id)}`} aria-current={id === operation?.id ? 'page' : undefined}>
                      <span class={`method ${method}`}>{method}</span> <span class="mono">{path}</span>
                      {markers.map(({ text }) => (
                        <span key={text} class="marker muted">
                          {text}
                        </span>
                      ))}
                    </a>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </nav>
      <main class="reference">
        {operation === undefined && place.value !== '' && place.value !== chapter?.id ? (
          <p class="notice" role="status">
            The contract has no page “{place.value}”. This is the overview.
          </p>
        ) : null}
        {operation === undefined ? (
          <article class="stack">{chapter?.content(served)}</article>
        ) : (
          <OperationView key={operation.id} contract={contract} operation={operation} />
        )}
      </main>
      {operation === undefined ? null : <SendPanel key={operation.id} served={served} operation={operation} />}
    </div>
  )
}

addEventListener('hashchange', () => {
  place.value = placeInAddress()
})
show(<DocsPage />)
void load()
