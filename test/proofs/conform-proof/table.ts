/** The columns of the table, in groups. */
export const GROUPS = [
  ['ban', 'banned-at-start', 'unauthorized'],
  ['minute-quota', 'day-quota'],
  ['retry-after-seconds', 'retry-after-date', 'error-503-retry-after', 'storm'],
  ['no-retry-after', 'error-503'],
  ['connection-reset', 'truncated-body', 'slow-body', 'hang'],
  ['lost-response'],
  ['removed-operation'],
  ['int64', 'unknown-fields', 'enum-growth'],
] as const

/** The outcome of a cell, and how its reason begins. */
export const LETTERS: Readonly<Record<string, RegExp | 'passed' | 'untested'>> = {
  '.': 'passed',
  b: /^The machine is too busy/,
  u: 'untested',
  e: /^early-retry:/,
  n: /^request-while-banned:/,
  p: /repeated a refused request/,
  r: /Repeating it cannot help/,
  d: /^The client created \d+ pets/,
  g: /^The command failed/,
  t: /did not end in time/,
  i: /a record that does not exist/,
  '0': /^The command ended with 0/,
}

export interface Row {
  readonly name: string
  readonly command: string
  readonly job?: 'create'
  /** A letter a scenario, in the order of GROUPS; `-` if the job does not have it. `P`: p or g, which are both true. */
  readonly expected: string
}

const node = (library: string, options: object, expected: string, job?: 'create'): Row => ({
  name: `${library} ${JSON.stringify(options)}`,
  command: `node client.mjs ${library} '${JSON.stringify(options)}'`,
  ...(job && { job }),
  expected,
})
const python = (how: string, expected: string): Row => ({
  name: `python ${how}`,
  command: `python3 client.py ${how}`,
  expected,
})
const curl = (options: string, expected: string, job?: 'create'): Row => ({
  name: `curl ${options}`,
  command: options.startsWith('LOOP') ? `${options} sh client.sh` : `sh client.sh ${options}`,
  ...(job && { job }),
  expected,
})

const GOOD = { attempts: 5 }
const ALL = ['get', 'post']

/** What each client should get, by reasoning about its code. */
export const TABLE: readonly Row[] = [
  // Fetch, with retries of our own.
  node('fetch', {}, 'g.. .. gggg gg gggg . . ...'),
  node('fetch', { timeout: 0 }, 'g.. .. gggg gg gg.t . . ...'),
  node('fetch', GOOD, '... .. .... .. .... . . ...'),
  node('fetch', { ...GOOD, jitter: true }, '... .. .... .. .... . . ...'),
  node('fetch', { ...GOOD, timeout: 0 }, '... .. .... .. ...t . . ...'),
  node('fetch', { ...GOOD, retryAfter: 'ignored', delay: 1000, growth: 1 }, 'e.. ee eeee .. .... . . ...'),
  node('fetch', { ...GOOD, retryAfter: 'ignored', delay: 5000, growth: 1 }, '... .. .... .. .... . . ...'),
  node('fetch', { ...GOOD, retryAfter: 'ignored' }, 'e.. ee eeee .. .... . . ...'),
  node('fetch', { ...GOOD, retryAfter: 'milliseconds' }, 'e.. ee eeee .. .... . . ...'),
  node('fetch', { ...GOOD, retryAfter: 'seconds' }, '... .. .e.. .. .... . . ...'),
  node('fetch', { ...GOOD, writes: 'all' }, '... .. .... .. .... d . ...'),
  node('fetch', { ...GOOD, writes: 'read-back' }, '... .. .... .. .... . . ...'),
  node('fetch', { ...GOOD, writes: 'after-read' }, '... .. .... .. .... . . ...'),
  node('fetch', { ...GOOD, statuses: 'all' }, '..r .. .... .. .... . r ...'),
  node('fetch', { attempts: 9, retryAfter: 'ignored', delay: 0 }, 'e.. ee eeee pp .... . . ...'),
  node('fetch', { attempts: 2, retryAfter: 'ignored', delay: 0 }, 'e.. ee eeee PP .... . . ...'),
  node('fetch', { attempts: 2, delay: 1000 }, 'g.. .. .... .g .... . . ...'),
  node('fetch', { ...GOOD, strict: true }, '... .. .... .. .... . . .gg'),
  node('fetch', { ...GOOD, rounds: true }, '... .. .... .. .... . . i..'),
  node('fetch', { swallows: true }, '000 00 0000 00 0000 0 . ...'),
  // Libraries.
  node('axios', {}, 'g.. .. gggg gg gg.g . . ...'),
  node('axios', { retry: {} }, '... .. .... pp .g.g d . ...'),
  node('axios', { retry: { delay: 'exponential' } }, '... .. .... .. .g.g d . ...'),
  node('axios', { retry: { delay: 'exponential', condition: 'idempotent' } }, '... .. .... .. .g.g . . ...'),
  node('axios', { retry: { delay: 300 } }, 'e.. ee eeee .. .g.g d . ...'),
  node('got', {}, '... .. .... .. .... . . ...'),
  node('got', { retry: { methods: ['GET', 'POST'] } }, '... .. .... .. .... d . ...'),
  // Waits until X-RateLimit-Reset after a 503, which takes a minute.
  node('ky', {}, '... .. .... .t .g.g . . ...'),
  node('ky', { retry: { methods: ALL } }, '... .. .... .t .g.g d . ...'),
  node('undici', {}, '... .. .... .. .g.g . . ...'),
  node('undici', { retry: { methods: ['GET', 'POST'] } }, '... .. .... .. .g.g d . ...'),
  // A retry gets the signal of the request that timed out, so that it fails at once.
  node('ofetch', {}, 'e.. ee eeee PP .g.g . . ...'),
  // A number of retries applies to POST.
  node('ofetch', { retry: { retry: 3, readsWait: true } }, '... .. .e.. .. .g.g d . ...'),
  node('p-retry', { retry: { retries: 3 } }, 'eer ee eeee .. .... d r ...'),
  // Python with urllib and requests; `retry` is the Retry of urllib3.
  python('urllib', 'g.. .. gggg gg gg.g . . ...'),
  python('requests', 'g.. .. gggg gg gg.g . . ...'),
  python('retry', '... .. .... .. .g.. . . ...'),
  python('retry-all', '... .. .... .. .g.. d . ...'),
  python('loop', 'eer ee eeee .. .... d r ...'),
  // curl
  curl('--no-keepalive', 'g.. .. gggg gg gggg . . ...'),
  curl('--retry 3', '... .. .... .. gg.. . . ...'),
  curl('--retry 3 --retry-delay 1', '... .. .... .. gg.. . . ...'),
  curl('--retry 3 --retry-all-errors', '.er .. .... .. .... d r ...'),
  curl('LOOP=20', 'eer ee eeee pp .... d r ...'),
  // The same with the job `create`.
  node('fetch', {}, '... .. .... .. ---- . . -.-', 'create'),
  node('fetch', GOOD, '... .. .... .. ---- . . -.-', 'create'),
  node(
    'fetch',
    { attempts: 9, writes: 'all', retryAfter: 'ignored', delay: 0 },
    'e.. ee eeee pp ---- d . -.-',
    'create',
  ),
  node('fetch', { swallows: true }, '000 00 0000 00 ---- 0 . -.-', 'create'),
  node('p-retry', { retry: { retries: 3 } }, 'eer ee eeee .. ---- d r -.-', 'create'),
  curl('--retry 3 --retry-all-errors', '.er .. .... .. ---- d r -.-', 'create'),
]
