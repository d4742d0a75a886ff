/** A client configuration. */
export interface Client {
  readonly name: string
  /** A shell command; `$U` is the address of the pets, `$A` the Authorization header, `$S` the timeout in seconds. */
  readonly command?: string
  /** Arguments of client.mjs or page.mjs, which can also run in the sandbox's own process. */
  readonly script?: readonly [file: 'client.mjs' | 'page.mjs', ...args: string[]]
  /** Waits for every Retry-After: an early request in its capture is a bug of the harness. */
  readonly isPolite?: boolean
  /** Its waits without Retry-After grow, within a call. All that are polite do so. */
  readonly isBackingOff?: boolean
  /** Stated senders. */
  readonly senders?: number
  /** Each sender is named in the key. */
  readonly isNamed?: boolean
  /** The only condition that it is for. */
  readonly only?: string
}

const polite = (client: Client): Client => ({ ...client, isPolite: true, isBackingOff: true })
/** Calls in a row: the first of a call comes before the wait of the last one is over. */
const twice = (client: Client): Client => ({ ...client, isBackingOff: true })
const node = (transport: string, policy: string): Client => ({
  name: `node ${transport} ${policy}`,
  script: ['client.mjs', transport, policy],
})
const python = (transport: string, policy: string): Client => ({
  name: `python ${transport} ${policy}`,
  command: `python3 "$HERE/client.py" ${transport} ${policy}`,
})
const perl = (policy: string, keep: 0 | 1): Client => ({
  name: `perl HTTP::Tiny ${policy}${keep ? ' keep-alive' : ''}`,
  command: `perl "$HERE/client.pl" ${policy} ${keep}`,
})
const page = (policy: string): Client => ({ name: `chromium ${policy}`, script: ['page.mjs', policy] })

const CURL = 'curl -s -o /dev/null -m "$S" -H "$A"'
const repeat = (count: number, command: string) => Array(count).fill(command).join('; ')
/** Waits as Retry-After says, in seconds; else it backs off. */
const POLITE_LOOP = (fetchWait: string) =>
  `for back in 0.1 0.2 0.4; do told=$(${fetchWait}) && [ "$told" = ok ] && break; sleep "\${told:-$back}"; done`
const CURL_WAIT =
  'curl -s -o /dev/null -m "$S" -H "$A" -w "%{http_code} %header{retry-after}" "$U" | sed -n "s/^2.*/ok/p; s/^[45][0-9]* //p"'
const NODE_ONE = '"$NODE" "$HERE/client.mjs" fetch one'

/** All that are tried. */
export const CLIENTS: readonly Client[] = [
  // A process per request.
  { name: 'curl; curl', command: repeat(6, `${CURL} "$U"`) },
  { name: 'curl then curl at half the wait', command: repeat(3, `${CURL} "$U"; sleep 0.5`) },
  { name: 'curl every 1.1 s', command: repeat(3, `${CURL} "$U"; sleep 1.1`) },
  { name: 'wget; wget', command: repeat(6, 'wget -q -t 1 -T "$S" -O /dev/null --header "$A" "$U"') },
  { name: 'wget waits 1.1 s', command: repeat(3, 'wget -q -t 1 -T "$S" -O /dev/null --header "$A" "$U"; sleep 1.1') },
  { name: 'node process per request', command: repeat(5, NODE_ONE) },
  { name: 'python process per request', command: repeat(5, 'python3 "$HERE/client.py" http.client one') },
  polite({ name: 'curl loop with Retry-After', command: POLITE_LOOP(CURL_WAIT) }),
  // One process of curl or wget.
  {
    name: 'curl, several URLs',
    command: `${CURL} "$U" -o /dev/null "$U" -o /dev/null "$U" -o /dev/null "$U" -o /dev/null "$U"`,
  },
  {
    name: 'curl --no-keepalive, several URLs',
    command: `${CURL} -H "Connection: close" "$U" -o /dev/null "$U" -o /dev/null "$U"`,
  },
  polite({ name: 'curl --retry 3', command: `${CURL} --retry 3 --retry-all-errors "$U"` }),
  { name: 'curl --retry 3 --retry-delay 1', command: `${CURL} --retry 3 --retry-delay 1 --retry-all-errors "$U"` },
  polite({
    name: 'curl --parallel once',
    command: `${CURL} -H "x-turn: 1" -Z "$U" -o /dev/null "$U" -o /dev/null "$U" -o /dev/null "$U"`,
  }),
  // Processes that start together are senders; which of them comes first is not to be known within 0.5 ms.
  polite({
    name: 'curl & curl & curl',
    command: `for one in 1 2 3; do ${CURL} -H "x-sender: $one" "$U" & done; wait`,
    senders: 3,
  }),
  { name: 'wget, several URLs', command: 'wget -q -t 1 -T "$S" -O /dev/null --header "$A" "$U" "$U" "$U" "$U"' },
  {
    name: 'wget --retry-on-http-error',
    command: 'wget -q -t 4 -T "$S" --waitretry=0 --retry-on-http-error=429,503 -O /dev/null --header "$A" "$U"',
  },
  // Perl and Python.
  perl('rude', 0),
  perl('rude', 1),
  polite(perl('polite', 0)),
  ...['requests', 'session', 'urllib3', 'urllib', 'http.client', 'http.client-new', 'half-closed'].map((each) =>
    python(each, 'rude'),
  ),
  ...['session', 'urllib', 'http.client', 'http.client-new', 'half-closed'].map((each) =>
    polite(python(each, 'polite')),
  ),
  python('requests', 'half'),
  polite(python('urllib3-retry', 'polite')),
  twice(python('urllib3-retry', 'twice')),
  python('urllib3-retry', 'deaf'),
  polite(python('pipelined', 'polite')),
  python('pipelined', 'rude'),
  python('never-reads', 'rude'),
  // Node.
  ...[
    ...['fetch', 'fetch-close', 'fetch-unread', 'http', 'http-no-agent', 'http-no-agent-unread', 'http-keep-alive'],
    ...['http-pool', 'undici-1', 'undici-4'],
  ].map((each) => node(each, 'rude')),
  ...['fetch', 'fetch-unread', 'http', 'http-no-agent', 'http-pool', 'undici-4', 'undici-pipelined'].map((each) =>
    polite(node(each, 'polite')),
  ),
  polite(node('fetch', 'jitter')),
  twice(node('fetch', 'twice:polite')),
  ...['half', 'as-milliseconds', 'capped-500ms', 'backoff-only', 'poll-200ms', 'interval:150'].map((each) =>
    node('fetch', each),
  ),
  node('http-no-agent', 'half'),
  twice(node('undici-4', 'twice:backoff-only')),
  node('fetch', 'pages'),
  node('fetch', 'posts:rude'),
  polite(node('fetch', 'posts:polite')),
  polite(node('fetch', 'burst:5:polite')),
  polite(node('http-no-agent', 'burst:12:polite')),
  polite(node('undici-pipelined', 'burst:5:polite')),
  node('fetch', 'burst:3:rude'),
  polite(node('got', 'default')),
  twice(node('got', 'short:twice')),
  node('got', 'rude'),
  polite(node('ky', 'default')),
  twice(node('ky', 'more:twice')),
  node('ky', 'rude'),
  node('ky', 'capped'),
  node('axios', 'default'),
  polite(node('axios', 'exponential')),
  twice(node('axios', 'exponential:twice')),
  node('axios', 'rude'),
  polite(node('p-retry', 'reads-wait')),
  node('p-retry', 'naive'),
  node('p-retry', 'rude'),
  node('ofetch', 'default'),
  polite(node('ofetch', 'reads-wait')),
  node('ofetch', 'rude'),
  polite(node('retry-agent', 'default')),
  node('retry-agent', 'short'),
  node('retry-agent', 'rude'),
  // Several senders.
  polite({ ...node('http-no-agent', 'workers:4:polite'), senders: 4 }),
  polite({ ...node('undici-4', 'workers:4:polite'), senders: 4 }),
  { ...node('undici-4', 'workers:4:rude'), senders: 4 },
  { ...node('http-no-agent', 'workers:4:rude'), senders: 4 },
  polite({ ...node('undici-4', 'workers:4:polite'), name: '4 workers polite, named', isNamed: true }),
  { ...node('undici-4', 'workers:4:rude'), name: '4 workers rude, named', isNamed: true },
  // What ends a wait.
  ...['storm-stop', 'advance', 'reset'].map((verb) => polite({ ...node('fetch', `ended:${verb}`), only: 'storm' })),
  ...['unban', 'advance'].map((verb) => polite({ ...node('fetch', `ended:${verb}`), only: 'ban' })),
  ...['plan', 'limits', 'advance'].map((verb) => polite({ ...node('fetch', `ended:${verb}`), only: 'quota' })),
  // Chromium.
  polite({ ...page('two-senders'), senders: 2 }),
  ...['polite', 'polite-abort', 'rude', 'single', 'reload'].map(page),
]
