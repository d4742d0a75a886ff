import { describe, expect, it } from 'vitest'
import { junitReport } from '../../../src/cli/conduct/report-file.js'
import { textReport } from '../../../src/cli/conduct/text-report.js'
import { coloursFor } from '../../../src/cli/print.js'
import { type Conduct, VIOLATIONS, WARNINGS } from '../../../src/conduct/conduct-view.js'
import { addConduct, type ConductReport, EMPTY_CONDUCT } from '../../../src/conduct/total-conduct.js'
import { junitViolations } from '../../support/junit-schema.js'
import { aConduct, aFinding, aWhatIf } from './a-conduct.js'

const plain = await coloursFor(0)
const reportOf = (...conducts: readonly Conduct[]): ConductReport => conducts.reduce(addConduct, EMPTY_CONDUCT)

const CHECKOUT = aConduct({
  space: 'checkout',
  requests: 70,
  violations: [aFinding({ rule: 'early-retry', count: 3, exchanges: [4, 5, 6] })],
  warnings: [aFinding({ rule: 'deprecated-operation', key: 'sandbox-pro', operation: 'getPet', message: 'Leave it.' })],
  whatIf: aWhatIf(70, 10),
  keys: [{ key: 'sandbox', plan: 'free', ...aWhatIf(70, 10) }],
})

describe('a report on several spaces', () => {
  it('has every finding with its space, and the sums', () => {
    const report = reportOf(aConduct(), CHECKOUT, aConduct({ requests: 0, whatIf: aWhatIf(0), keys: [] }))
    expect(report).toMatchObject({
      requests: 73,
      spaces: 2,
      violations: [{ rule: 'early-retry', space: 'checkout', count: 3 }],
      warnings: [{ rule: 'deprecated-operation', space: 'checkout' }],
      counts: { 'early-retry': 3, 'deprecated-operation': 1 },
      leftOut: 0,
    })
    expect(report.keys.map(({ space, key }) => `${key} ${space}`)).toEqual(['sandbox ', 'sandbox checkout'])
  })

  it('has the largest peaks, all refusals, and the plan that refuses none of them', () => {
    const { whatIf } = reportOf(aConduct(), CHECKOUT, aConduct({ whatIf: aWhatIf(90, 30, 0) }))
    expect(whatIf).toMatchObject({ requests: 163, peakMinute: 90, peakDay: 90, cheapest: 'pro' })
    const [free, pro] = [
      { minute: 40, day: 0, ban: 0 },
      { minute: 0, day: 0, ban: 0 },
    ]
    expect(whatIf?.plans).toMatchObject([
      { plan: 'free', refusals: 40, refused: free },
      { plan: 'pro', refusals: 0, refused: pro },
    ])
    expect(reportOf(aConduct({ whatIf: aWhatIf(500, 440, 200) })).whatIf?.cheapest).toBeNull()
  })

  it('keeps a limited number of findings and counts the rest', () => {
    const many = Array.from({ length: 900 }, (_, n) => aFinding({ rule: 'invalid-request', message: `no. ${n}` }))
    const report = reportOf(
      ...Array.from({ length: 12 }, () => aConduct({ violations: many as Conduct['violations'] })),
    )
    expect(report.violations).toHaveLength(10_000)
    expect(report.leftOut).toBe(800)
    expect(report.counts).toEqual({ 'invalid-request': 10_800 })
    expect(textReport(report, plain)).toContain('… and 800 more\n')
  })
})

describe('the text report', () => {
  it('has each cause once with its evidence, and what each plan would have done', () => {
    expect(textReport(reportOf(CHECKOUT), plain)).toBe(
      [
        '✗ Your client retries too early (early-retry)                           3 times',
        '  GET /v1/pets was sent again 58 s early; sandbox~checkout; exchanges 4, 5, 6',
        '  Wait as long as Retry-After says; pause queues until then.',
        '! Your client calls a deprecated operation (deprecated-operation)        1 time',
        '  Leave it; sandbox-pro~checkout; exchange 7',
        '',
        '70 requests, 1 sender per key (observed): 3 violations (early-retry 3), 1 warning (deprecated-operation 1)',
        '70 requests reached a quota, at most 70 a minute and 70 a day with one key. On the plan pro, no request would have been refused:',
        '  free           60/min   1000/day   refuses 10 (minute 10)',
        '  pro            300/min  10000/day  refuses none',
        '  as configured                      refuses 10 (minute 10)',
        '',
      ].join('\n'),
    )
  })

  it.each<[what: string, conduct: Partial<Conduct>, text: RegExp]>([
    ['the singular for one request', { requests: 1 }, /^1 request, .*\n1 request reached a quota/],
    ['one line without findings', {}, /^3 requests, .*: no violations, no warnings\n3 requests reached/],
    ['one line without requests', { requests: 0, keys: [] }, /^0 requests: no violations, no warnings\n$/],
    [
      'the operation of a finding once',
      { violations: [aFinding({ rule: 'invalid-request', message: 'listPets: limit must be 1. It is not.' })] },
      /^✗ Your client sends invalid requests .*\n {2}limit must be 1\. It is not; sandbox; exchange/,
    ],
    [
      'some of many exchanges and an ellipsis',
      { violations: [aFinding({ rule: 'no-backoff', operation: null, count: 40, exchanges: [1, 2, 3, 4, 5, 6] })] },
      /^✗ Your client retries without a pause \(no-backoff\) +40 times\n.*; sandbox; exchanges 1, 2, 3, 4, 5 …$/m,
    ],
  ])('has %s', (_what, conduct, text) => expect(textReport(reportOf(aConduct(conduct)), plain)).toMatch(text))

  it('names the clients of a rule if they are several, and advises no number of senders that a loop makes', () => {
    const early = { rule: 'early-retry', otherwise: { senders: 58 } } as const
    const report = (...findings: readonly object[]) =>
      textReport(reportOf(aConduct({ violations: findings as Conduct['violations'] })), plain)
    const text = report(
      aFinding({ ...early, clients: ['curl', 'wget'] }),
      aFinding({ ...early, key: 'sandbox-pro', clients: ['node'] }),
    )
    expect(text).toMatch(/^✗ Each of 3 clients \(curl, wget, node\) retries too early \(early-retry\)/)
    expect(text).toMatch(/; sandbox \(curl\) \(wget\); exchange 7\n.*; sandbox-pro \(node\); exchange 7/)
    expect(text).toContain('If several clients share this key, name each of them, as in sandbox~+w1.')
    expect(text).not.toContain('--senders')
    const alone = report(
      aFinding({ rule: 'early-retry', clients: ['httpx'] }),
      aFinding({ rule: 'unauthenticated', clients: ['curl'] }),
    )
    expect(alone).toMatch(/^✗ httpx retries too early .*\n.*\n.*\n✗ curl sends no valid key /)
    expect(report(aFinding({ ...early, otherwise: { senders: 6 } }))).toMatch(
      /^✗ Your client retries .*\n.*; sandbox; exchange 7\n.*\n.*use --senders 6\.$/m,
    )
  })

  it('names the response that was ignored', () => {
    const at = '2026-03-01T12:00:00.000Z'
    const disobeyed = { exchange: 3, at, status: 429, retryAfter: '58', laterMs: 36 }
    const violations = [aFinding({ rule: 'early-retry', disobeyed, count: 2, exchanges: [4, 5] })]
    expect(textReport(reportOf(aConduct({ violations })), plain)).toContain(
      [
        '  GET /v1/pets   429 Retry-After 58  →  came back after 36 ms; sandbox; response 3 ignored by exchanges 4, 5',
        '  Wait as long as Retry-After says; pause queues until then.\n',
      ].join('\n'),
    )
  })

  it('shows how many senders were assumed', () => {
    const stated = { sendersStated: true }
    const report = reportOf(aConduct({ senders: 8, ...stated }), aConduct({ space: 'one', ...stated }))
    expect(textReport(report, plain)).toMatch(/^6 requests in 2 spaces, 1 or 8 senders per key \(stated\): /m)
  })
})

describe('the JUnit report', () => {
  const AT = Date.parse('2026-03-01T12:00:00.500Z')
  const junit = junitReport(reportOf(aConduct(), CHECKOUT), VIOLATIONS, AT)
  const failuresOf = (xml: string) => [...xml.matchAll(/name="([^"]*)" time="0"><failure /g)].map(([, name]) => name)

  it('has a suite for each key with a case for each rule', () => {
    const suites = [...junit.matchAll(/<testsuite id="(\d)" name="([^"]*)".* tests="(\d+)" failures="(\d+)"/g)]
    const all = ['0 sandbox 17 0', '1 sandbox~checkout 17 1', '2 sandbox-pro~checkout 17 0']
    expect(suites.map(([, ...facts]) => facts.join(' '))).toEqual(all)
    for (const rule of [...VIOLATIONS, ...WARNINGS])
      expect(junit).toContain(`<testcase classname="sandbox" name="${rule}" time="0"/>`)
  })

  it('marks only the given rules as failures and lists the others', () => {
    expect(junit).toContain(
      '<testcase classname="sandbox~checkout" name="early-retry" time="0"><failure type="early-retry" message="GET /v1/pets was sent again 58 s early.">early-retry, sandbox~checkout, listPets: ',
    )
    expect(junit).toMatch(/<system-out>deprecated-operation, .*<\/system-out>/)
    expect(failuresOf(junit)).toEqual(['early-retry'])
    const other = junitReport(reportOf(CHECKOUT), ['deprecated-operation'], AT)
    expect(failuresOf(other)).toEqual(['deprecated-operation'])
    expect(other).toMatch(/<system-out>early-retry, /)
    expect(failuresOf(junitReport(reportOf(CHECKOUT), [], AT))).toEqual([])
  })

  it('fails a rule whose findings were too many to keep, and a run without traffic', () => {
    const full = { ...reportOf(CHECKOUT), counts: { 'no-backoff': 1 }, leftOut: 1 }
    expect(failuresOf(junitReport(full, ['no-traffic', 'no-backoff'], AT))).toEqual(['no-backoff'])
    expect(failuresOf(junitReport(EMPTY_CONDUCT, ['no-traffic', 'no-backoff'], AT))).toEqual(['no-traffic'])
    expect(failuresOf(junitReport(EMPTY_CONDUCT, [], AT))).toEqual([])
    expect(junitViolations(junitReport(EMPTY_CONDUCT, ['no-traffic'], AT))).toEqual([])
  })

  it('is valid XML, by the schemas of Ant and Jenkins, also for hostile text', () => {
    const violations = [aFinding({ rule: 'invalid-request' as const, message: '<&>"\'\u0000\ud800\uffff]]>' })]
    const hostile = reportOf(aConduct({ violations }))
    for (const report of [EMPTY_CONDUCT, reportOf(aConduct(), CHECKOUT), hostile])
      for (const failing of [[], VIOLATIONS, [...VIOLATIONS, ...WARNINGS]])
        expect(junitViolations(junitReport(report, failing, AT))).toEqual([])
    const text = junitReport(hostile, VIOLATIONS, AT)
    expect(text).toContain('message="&lt;&amp;&gt;&quot;&apos;\\u0000\ufffd\ufffd]]&gt;"')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that XML cannot hold
    expect(text).not.toMatch(/[\u0000-\u0008]/)
  })
})
