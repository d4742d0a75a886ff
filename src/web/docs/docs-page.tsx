import { useEffect, useMemo, useState } from 'preact/hooks'
import { controlToken, keepControlToken } from '../control-token.js'
import { SANDBOX_ADDRESS } from '../sandbox-address.js'
import { CHAPTERS } from './chapters.js'
import { readServed, readState, type Served, TokenNeeded } from './docs-api.js'
import { OperationView } from './operation-view.js'
import { placeOf, search } from './search.js'
import { SendPanel } from './send-panel.js'

/** The contract that is served: what there is on the left, what it says in the middle, how it is called on the right. */
export function DocsPage({ space }: { readonly space: string }) {
  const [served, setServed] = useState<Served>()
  const [failure, setFailure] = useState<string>()
  const [isLocked, setLocked] = useState(false)
  const [tries, setTries] = useState(0)

  useEffect(() => {
    readServed(space).then(
      (read) => {
        setServed(read)
        setLocked(false)
      },
      (error: unknown) => {
        if (error instanceof TokenNeeded) setLocked(true)
        else setFailure(error instanceof Error ? error.message : String(error))
      },
    )
  }, [space, tries])

  return (
    <>
      <header class="top">
        <p class="name">
          <img src="assets/icon.svg" alt="" width="24" height="24" /> petstore-sandbox
        </p>
        <nav aria-label="Sandbox">
          <a href={space === '' ? './' : `./#space=${encodeURIComponent(space)}`}>Dashboard</a>
          <a href="openapi.yaml">openapi.yaml</a>
        </nav>
      </header>
      {isLocked ? <TokenForm isWrong={tries > 0 && controlToken() !== null} retry={() => setTries(tries + 1)} /> : null}
      {failure === undefined ? null : (
        <p class="notice" role="alert">
          {failure}
        </p>
      )}
      {served === undefined ? null : <Panes served={served} space={space} />}
    </>
  )
}

function Panes({ served: { contract, state: first }, space }: { readonly served: Served; readonly space: string }) {
  const [state, setState] = useState(first)
  const [place, setPlace] = useState(() => decodeURIComponent(location.hash.replace(/^#\/?/, '')))
  const [wanted, setWanted] = useState('')
  const open = state.keys.filter(({ secret }) => !secret)
  const [key, setKey] = useState(open[0]?.key ?? '')
  const baseUrl = SANDBOX_ADDRESS + state.basePath

  useEffect(() => {
    const turn = () => setPlace(decodeURIComponent(location.hash.replace(/^#\/?/, '')))
    addEventListener('hashchange', turn)
    return () => removeEventListener('hashchange', turn)
  }, [])
  // Another place is read from its beginning.
  useEffect(() => {
    document.querySelector('.reference')?.scrollTo(0, 0)
    document.querySelector<HTMLElement>('.reference h2')?.focus({ preventScroll: true })
  }, [place])

  const context = { contract, state, baseUrl, key: space === '' ? key : `${key}~${space}` }
  const places = useMemo(
    () => [
      ...contract.operations.map(placeOf),
      ...CHAPTERS.map(({ id, title, text }) => ({ id, title, text: text(contract).toLowerCase() })),
    ],
    [contract],
  )
  const found = new Set(search(places, wanted).map(({ id }) => id))
  const operation = contract.operations.find(({ id }) => id === place)
  const chapter = operation === undefined ? (CHAPTERS.find(({ id }) => id === place) ?? CHAPTERS[0]) : undefined
  const shown = contract.operations.filter(({ id }) => found.has(id))
  const tags = [...new Set(shown.map(({ tag }) => tag))]
  return (
    <div class="panes">
      <nav class="contents" aria-label="Contents">
        <h1>
          {contract.title} <small>{contract.version}</small>
        </h1>
        <label class="stacked">
          Search
          <input type="search" value={wanted} onInput={({ currentTarget }) => setWanted(currentTarget.value)} />
        </label>
        <p class="hidden" role="status">
          {wanted === '' ? '' : `${found.size} found`}
        </p>
        {found.size === 0 ? <p class="muted">Nothing has all these words.</p> : null}
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
                      {markers.map(({ kind, text }) => (
                        <span key={text} class={`marker ${kind}`}>
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
      {operation === undefined ? (
        <main class="reference">{chapter?.content(context)}</main>
      ) : (
        <>
          <main class="reference">
            <OperationView key={operation.id} contract={contract} operation={operation} />
          </main>
          <SendPanel
            key={`try ${operation.id}`}
            operation={operation}
            contract={contract}
            state={state}
            baseUrl={baseUrl}
            space={space}
            keys={open}
            chosen={key}
            choose={setKey}
            sent={() => void readState(space).then(setState, () => {})}
          />
        </>
      )}
    </div>
  )
}

function TokenForm({ isWrong, retry }: { readonly isWrong: boolean; retry(): void }) {
  return (
    <form
      class="notice"
      onSubmit={(event) => {
        event.preventDefault()
        const token = new FormData(event.currentTarget).get('token')
        if (typeof token !== 'string') return
        keepControlToken(token)
        retry()
      }}
    >
      <label class="inline">
        Control token <input name="token" type="password" required autocomplete="current-password" />
      </label>{' '}
      <button type="submit">Continue</button>
      <p role="alert">{isWrong ? 'The sandbox rejected this token. Enter the one given to --control-token.' : ''}</p>
    </form>
  )
}
