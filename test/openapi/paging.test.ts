import { describe, expect, it } from 'vitest'
import { inQuery, integer, list, object, ok, openContract, takes, text } from '../support/small-contract.js'
import type { TestSandbox } from '../support/transports.js'

const bug = object({ id: integer, title: text }, ['id', 'title'])
const boolean = { type: 'boolean' }
const nullable = (schema: object) => ({ ...schema, type: [Object(schema).type, 'null'] })

async function openBugs(parameters: readonly object[], response: object, headers?: object): Promise<TestSandbox> {
  const post = { ...takes(object({ title: text }, ['title'])), ...ok(bug, 201) }
  const sandbox = await openContract({ '/bugs': { post, get: { parameters, ...ok(response, 200, headers) } } })
  expect(sandbox.mocked).toEqual({})
  for (const title of ['a', 'b', 'c']) await sandbox.post('/bugs', { title })
  return sandbox
}

/** The titles of all bugs in a response, in any envelope. */
function titlesIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap(titlesIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => (name === 'title' ? [one] : titlesIn(one)))
}

describe('pages', () => {
  it.each<[string, readonly object[], object, string, string]>([
    [
      'of ABP',
      [inQuery('SkipCount'), inQuery('MaxResultCount')],
      object({ totalCount: integer, items: list(bug) }),
      'MaxResultCount=2',
      'SkipCount=2&MaxResultCount=2',
    ],
    [
      'of Elasticsearch',
      [inQuery('from'), inQuery('size')],
      object({ total: integer, hits: list(bug) }),
      'size=2',
      'from=2&size=2',
    ],
    [
      'of OpenStack',
      [inQuery('marker', text), inQuery('limit')],
      object({ bugs: list(bug) }),
      'limit=2',
      'marker=2&limit=2',
    ],
    ['of json-server', [inQuery('_page'), inQuery('_limit')], list(bug), '_page=1&_limit=2', '_page=2&_limit=2'],
    [
      'of Relay',
      [inQuery('first'), inQuery('after', text)],
      object({ edges: list(object({ node: bug, cursor: text })) }),
      'first=2',
      'first=2&after=2',
    ],
    [
      'with page_num',
      [inQuery('page_num'), inQuery('page_size')],
      object({ data: object({ list: list(bug) }) }),
      'page_num=1&page_size=2',
      'page_num=2&page_size=2',
    ],
    [
      'with currentPage',
      [inQuery('currentPage'), inQuery('perPage')],
      object({ bugs: list(bug) }),
      'currentPage=1&perPage=2',
      'currentPage=2&perPage=2',
    ],
    ['of Keycloak', [inQuery('first'), inQuery('max')], list(bug), 'first=0&max=2', 'first=2&max=2'],
    ['of Azure', [inQuery('skip'), inQuery('top')], object({ value: list(bug) }), 'top=2', 'skip=2&top=2'],
    ['with maxpagesize', [inQuery('skip'), inQuery('maxpagesize')], list(bug), 'maxpagesize=2', 'skip=2&maxpagesize=2'],
    ['of react-admin', [inQuery('_start'), inQuery('_end')], list(bug), '_start=0&_end=2', '_start=2&_end=4'],
    [
      'of Strapi',
      [inQuery('pagination[page]'), inQuery('pagination[pageSize]')],
      list(bug),
      'pagination[page]=1&pagination[pageSize]=2',
      'pagination[page]=2&pagination[pageSize]=2',
    ],
    [
      'with page-number',
      [inQuery('page-number'), inQuery('page-size')],
      list(bug),
      'page-number=1&page-size=2',
      'page-number=2&page-size=2',
    ],
    [
      'of springfox, from 0',
      [{ ...inQuery('page'), description: 'Results page you want to retrieve (0..N)' }, inQuery('size')],
      list(bug),
      'page=0&size=2',
      'page=1&size=2',
    ],
    [
      'of Elysia, whose numbers all have the default 0',
      [inQuery('page', { anyOf: [{ ...text, format: 'numeric', default: 0 }, { type: 'number' }] }), inQuery('limit')],
      list(bug),
      'page=1&limit=2',
      'page=2&limit=2',
    ],
    ...[
      { ...text, pattern: '^\\d+$' },
      { ...text, example: '10' },
      { anyOf: [{ ...text, format: 'numeric' }, { type: 'number' }] },
      { pattern: '^-?(?:0|[1-9]\\d*)$', format: 'int32' },
      text,
    ].map((count): [string, readonly object[], object, string, string] => [
      `counted by ${JSON.stringify(count)}`,
      [inQuery('offset', count), inQuery('limit', count)],
      list(bug),
      'offset=0&limit=2',
      'offset=2&limit=2',
    ]),
  ])('%s', async (_what, parameters, response, first, second) => {
    const sandbox = await openBugs(parameters, response)
    expect(titlesIn((await sandbox.get(`/bugs?${first}`)).json)).toEqual(['c', 'b'])
    expect(titlesIn((await sandbox.get(`/bugs?${second}`)).json)).toEqual(['a'])
    expect(sandbox.warnings).toEqual([])
  })

  it('of Hydra have their addresses', async () => {
    const names = ['hydra:first', 'hydra:last', 'hydra:next', 'hydra:previous']
    const view = object(Object.fromEntries(names.map((name) => [name, text])))
    const response = object({ 'hydra:member': list(bug), 'hydra:totalItems': integer, 'hydra:view': view })
    const sandbox = await openBugs([inQuery('page'), inQuery('itemsPerPage')], response)
    const { json: body } = await sandbox.get('/bugs?page=1&itemsPerPage=2')
    expect(body).toMatchObject({
      'hydra:totalItems': 3,
      'hydra:view': {
        'hydra:first': expect.stringContaining('page=1'),
        'hydra:last': expect.stringContaining('page=2'),
        'hydra:next': expect.stringContaining('page=2'),
      },
    })
  })

  it('of .NET and Relay say whether there are more', async () => {
    const page = object({ hasNextPage: boolean, hasPreviousPage: boolean, endCursor: nullable(text) })
    const sandbox = await openBugs(
      [inQuery('first'), inQuery('after', text)],
      object({ edges: list(object({ node: bug })), pageInfo: page, totalCount: integer }),
    )
    const pageOf = async (query: string) => Object((await sandbox.get(`/bugs?${query}`)).json).pageInfo
    expect(await pageOf('first=2')).toEqual({ hasNextPage: true, hasPreviousPage: false, endCursor: '2' })
    expect(await pageOf('first=2&after=2')).toEqual({ hasNextPage: false, hasPreviousPage: true, endCursor: '1' })
  })

  it.each<[string, object, string, unknown, string]>([
    ['next_page', nullable(text), 'page=2', expect.stringContaining('/v1/bugs?limit=1&page=3'), 'page=3'],
    ['nextPage', nullable(integer), 'page=2', 3, 'page=3'],
    ['next_offset', nullable(integer), 'offset=1', 2, 'offset=2'],
    ['nextStart', nullable(integer), 'start=1', 2, 'start=2'],
    ['after_cursor', nullable(text), 'cursor=3', '2', 'cursor=2'],
  ])('have the next one in %s, as %j', async (name, schema, query, next, last) => {
    const parameter = inQuery(query.replace(/=.*/, ''), query.startsWith('cursor') ? text : integer)
    const response = object({ data: list(bug), totalDocs: integer, pagingCounter: integer, [name]: schema })
    const sandbox = await openBugs([inQuery('limit'), parameter], response)
    const bodyOf = async (asked: string) => (await sandbox.get(`/bugs?limit=1&${asked}`)).json
    expect(await bodyOf(query)).toMatchObject({ [name]: next, totalDocs: 3, pagingCounter: 2 })
    expect(await bodyOf(last)).toMatchObject({ [name]: null, pagingCounter: 3 })
  })

  it('of Zendesk have cursors for both directions', async () => {
    const names = ['page[size]', 'page[after]', 'page[before]']
    const links = object({ next: nullable(text), prev: nullable(text) })
    const meta = object({ has_more: boolean, after_cursor: nullable(text), before_cursor: nullable(text) })
    const sandbox = await openBugs(
      names.map((name) => inQuery(name, name === 'page[size]' ? integer : text)),
      object({ bugs: list(bug), meta, links }),
    )
    const pageOf = async (query: string) => (await sandbox.get(`/bugs?page[size]=1${query}`)).json
    const middle = { after_cursor: '2', before_cursor: '2', has_more: true }
    const both = {
      next: expect.stringMatching(/&page%5Bafter%5D=2$/),
      prev: expect.stringMatching(/&page%5Bbefore%5D=2$/),
    }
    expect(await pageOf('&page[after]=3')).toMatchObject({ bugs: [{ id: 2 }], meta: middle, links: both })
    expect(await pageOf('&page[before]=1')).toMatchObject({ bugs: [{ id: 2 }], meta: middle, links: both })
    const first = { meta: { has_more: false, before_cursor: null }, links: { prev: null } }
    expect(await pageOf('&page[before]=2')).toMatchObject({ bugs: [{ id: 3 }], ...first })
    expect(await pageOf('&page[before]=3')).toMatchObject({ bugs: [], ...first })
  })

  it('of Relay have hasNextPage and cursors going backwards', async () => {
    const cursors = { startCursor: nullable(text), endCursor: nullable(text) }
    const pageInfo = object({ hasNextPage: boolean, hasPreviousPage: boolean, ...cursors })
    const sandbox = await openBugs(
      [inQuery('first'), inQuery('after', text), inQuery('before', text)],
      object({ edges: list(object({ node: bug })), pageInfo }),
    )
    expect((await sandbox.get('/bugs?first=1&before=1')).json).toMatchObject({
      edges: [{ node: { id: 2 } }],
      pageInfo: { hasNextPage: true, hasPreviousPage: true, startCursor: '2', endCursor: '2' },
    })
    expect((await sandbox.get('/bugs?first=1&before=2')).json).toMatchObject({
      pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: '3', endCursor: '3' },
    })
  })

  it('have addresses of the first and the last one in a documented header Link', async () => {
    const parameters = [inQuery('page'), inQuery('per_page')]
    const sandbox = await openBugs(parameters, list(bug), { Link: { schema: text } })
    const relations = async (page: number) => {
      const link = (await sandbox.get(`/bugs?per_page=1&page=${page}`)).headers.get('link') ?? ''
      return link.split(', ').map((one) => one.replace(/^.*page=(\d+)>; rel="(\w+)"$/, '$2 $1'))
    }
    expect(await relations(1)).toEqual(['next 2', 'last 3'])
    expect(await relations(2)).toEqual(['next 3', 'prev 1', 'first 1', 'last 3'])
    expect(await relations(3)).toEqual(['prev 2', 'first 1'])
  })

  it.each<[string, readonly object[], string, number]>([
    [
      'a date is not a cursor',
      [inQuery('after', { ...text, format: 'date-time' }), inQuery('limit')],
      'after=2026-01-01T00:00:00Z&limit=2',
      2,
    ],
    ['a size is ignored beside since_id', [inQuery('since_id'), inQuery('limit')], 'since_id=1&limit=2', 3],
    ['a size is ignored beside before alone', [inQuery('before', text), inQuery('limit')], 'before=2&limit=2', 3],
    ['a text named from is no cursor beside to', [inQuery('from', text), inQuery('to', text)], 'from=2026&to=2027', 3],
    ['an empty size is none', [inQuery('limit', nullable(integer))], 'limit=', 3],
    ['a size of null is none', [inQuery('limit', nullable(integer))], 'limit=null', 3],
    ['a size of a text is read', [inQuery('limit', text)], 'limit=2', 2],
  ])('%s', async (_what, parameters, query, length) => {
    const sandbox = await openBugs(parameters, list(bug))
    expect((await sandbox.get(`/bugs?${query}`)).json).toHaveLength(length)
  })

  it.each<[string, readonly object[], object]>([
    ['by number', [inQuery('page'), inQuery('limit')], object({ items: list(bug), pages: integer })],
    ['by offset', [inQuery('offset'), inQuery('limit')], object({ items: list(bug), pages: integer })],
    ['of a bare list', [inQuery('limit')], list(bug)],
  ])('%s have the default size, or are the first one, for a negative number', async (_what, parameters, response) => {
    const sandbox = await openBugs(parameters, response)
    const { json: first } = await sandbox.get('/bugs')
    expect(titlesIn(first)).toEqual(['c', 'b', 'a'])
    for (const query of parameters.map((parameter) => `${Object(parameter).name}=-2`))
      expect((await sandbox.get(`/bugs?${query}`)).json).toEqual(first)
    expect(titlesIn((await sandbox.get('/bugs?limit=0')).json)).toEqual([])
  })

  it('of JSON:API are sorted by their attributes, and refuse others', async () => {
    const attributes = object({ title: text, 'created-at': text }, ['title'])
    const article = object({ id: text, attributes }, ['id', 'attributes'])
    const document = object({ data: article })
    const sandbox = await openContract({
      '/articles': {
        post: { ...takes(document), ...ok(document, 201) },
        get: { parameters: [inQuery('sort', text)], ...ok(object({ data: list(article) })) },
      },
    })
    for (const title of ['b', 'a', 'c']) await sandbox.post('/articles', { data: { id: title, attributes: { title } } })
    const sorted = async (sort: string) => titlesIn((await sandbox.get(`/articles?sort=${sort}`)).json)
    expect([await sorted('title'), await sorted('-title'), await sorted('-id')]).toEqual([
      ['a', 'b', 'c'],
      ['c', 'b', 'a'],
      ['c', 'b', 'a'],
    ])
    expect(await sandbox.get('/articles?sort=created_at')).toMatchObject({ status: 200 })
    expect(await sandbox.get('/articles?sort=bogus')).toMatchObject({ status: 400 })
  })

  it.each([
    [text, '-title'],
    [text, 'title:desc'],
    [text, 'title_desc'],
    [list(text), ['title,DESC']],
  ])('are sorted by the default of %j, %j, and by no unknown property', async (schema, usual) => {
    const sandbox = await openBugs([inQuery('sort', { ...schema, default: usual })], list(bug))
    expect(titlesIn((await sandbox.get('/bugs')).json)).toEqual(['c', 'b', 'a'])
    expect(titlesIn((await sandbox.get('/bugs?sort=title')).json)).toEqual(['a', 'b', 'c'])
    expect((await sandbox.get('/bugs?sort=bogus')).status).toBe(400)
  })

  it.each([
    ['orderBy', 'orderDirection', 'desc', 'asc'],
    ['sort_by', 'sort_direction', 'DESC', 'ASC'],
    ['_sort', '_order', 'desc', 'asc'],
    ['sortBy', 'sortOrder', '-1', '1'],
  ])('are sorted by %s and %s', async (sort, direction, down, up) => {
    const sandbox = await openBugs([inQuery(sort, text), inQuery(direction, text)], list(bug))
    const sorted = async (way: string) => titlesIn((await sandbox.get(`/bugs?${sort}=title&${direction}=${way}`)).json)
    expect(await sorted(up)).toEqual(['a', 'b', 'c'])
    expect(await sorted(down)).toEqual(['c', 'b', 'a'])
  })
})

describe('a page', () => {
  it('is the one of the query, although an offset has a default', async () => {
    const page = inQuery('page', { ...integer, default: 1 })
    const sandbox = await openBugs([page, inQuery('limit'), inQuery('offset', { ...integer, default: 0 })], list(bug))
    const titles = async (query: string) => titlesIn((await sandbox.get(`/bugs?limit=1&${query}`)).json)
    expect(await titles('')).toEqual(['c'])
    expect(await titles('page=2')).toEqual(['b'])
    expect(await titles('offset=2')).toEqual(['a'])
  })

  it('of no records is the last page, 1, and there are no pages', async () => {
    const page = object({ items: list(bug), total_pages: integer, last_page: integer })
    const sandbox = await openContract({
      '/bugs': {
        get: { parameters: [inQuery('page'), inQuery('limit')], ...ok(page) },
        post: { ...takes(bug), ...ok(bug, 201) },
      },
    })
    expect((await sandbox.get('/bugs')).json).toEqual({ items: [], total_pages: 0, last_page: 1 })
  })

  it('of Relay has the cursors of its first and last edge', async () => {
    const pageInfo = object({ startCursor: text, endCursor: text, hasNextPage: boolean })
    const connection = object({ edges: list(object({ node: bug, cursor: text })), pageInfo })
    const sandbox = await openBugs([inQuery('first'), inQuery('after', text)], connection)
    expect((await sandbox.get('/bugs?first=2')).json).toMatchObject({ pageInfo: { startCursor: '3', endCursor: '2' } })
    expect((await sandbox.get('/bugs?first=2&after=2')).json).toMatchObject({
      edges: [{ cursor: '1' }],
      pageInfo: { startCursor: '1', endCursor: '1', hasNextPage: false },
    })
  })

  it('is no filter by a property `page`, beside dates named from and to', async () => {
    const day = { ...text, format: 'date' }
    const sheet = object({ id: integer, page: integer }, ['id', 'page'])
    const parameters = [
      inQuery('page', { ...integer, default: 0 }),
      inQuery('size'),
      inQuery('from', day),
      inQuery('to', day),
    ]
    const post = { ...takes(object({ page: integer })), ...ok(sheet, 201) }
    const sandbox = await openContract({ '/sheets': { post, get: { parameters, ...ok(list(sheet)) } } })
    await sandbox.post('/sheets', { page: 7 })
    expect((await sandbox.get('/sheets')).json).toEqual([{ id: 1, page: 7 }])
  })
})

describe('lists are sorted', () => {
  const ways = { ...text, enum: ['asc', 'desc'] }
  const names = (...choices: string[]) => ({ ...text, enum: choices })
  const byOrder = [inQuery('order', names('title', '-title', 'id', '-id'))]
  const gitlab = [inQuery('order_by', { ...names('id', 'title'), default: 'id' }), inQuery('sort', ways)]

  it.each<[string, readonly object[], string, string]>([
    ['by order_by, with sort as the direction', gitlab, 'order_by=title&sort=asc', 'order_by=title&sort=desc'],
    ['if sort comes first', gitlab.toReversed(), 'order_by=title&sort=asc', 'order_by=title&sort=desc'],
    ['by a sort that is only a direction', [inQuery('sort', ways)], 'sort=asc', 'sort=desc'],
    ['by newest and oldest', [inQuery('order', names('newest', 'oldest'))], 'order=oldest', 'order=newest'],
    ['by backward', [inQuery('direction', names('forward', 'backward'))], 'direction=forward', 'direction=backward'],
    ['by order', byOrder, 'order=title', 'order=-title'],
    ['by an order without choices', [inQuery('order', text)], 'order=title', 'order=title.desc'],
    ['by an order without choices, by its direction', [inQuery('order', text)], 'order=asc', 'order=desc'],
    ...['SortDescending', 'desc', 'is_desc', 'descending', 'reverse'].map(
      (name): [string, readonly object[], string, string] => [
        `by ${name}`,
        [inQuery('sortBy', text), inQuery(name, boolean)],
        `sortBy=title&${name}=false`,
        `sortBy=title&${name}=true`,
      ],
    ),
    ['with _', [inQuery('sort', text)], 'sort=title_asc', 'sort=title_desc'],
    ['with .', [inQuery('sort', text)], 'sort=title.asc', 'sort=title.desc'],
    ['in one word', [inQuery('sort', names('titleAsc', 'titleDesc'))], 'sort=titleAsc', 'sort=titleDesc'],
  ])('%s', async (_what, parameters, up, down) => {
    const sandbox = await openBugs(parameters, list(bug))
    expect(titlesIn((await sandbox.get(`/bugs?${up}`)).json)).toEqual(['a', 'b', 'c'])
    expect(titlesIn((await sandbox.get(`/bugs?${down}`)).json)).toEqual(['c', 'b', 'a'])
  })
})

it('a property that a list is sorted by again changes nothing, and costs nothing', async () => {
  const sandbox = await openBugs([inQuery('sort', text)], list(bug))
  expect(titlesIn((await sandbox.get(`/bugs?sort=${'-title,title,'.repeat(1000)}`)).json)).toEqual(['c', 'b', 'a'])
})

it('a bound of 64 bits is exact', async () => {
  const size = { type: 'integer', format: 'int64' }
  const record = object({ id: integer, size }, ['id'])
  const post = { ...takes(object({ size })), ...ok(record, 201) }
  const parameters = [inQuery('size_gt', size)]
  const sandbox = await openContract({ '/disks': { post, get: { parameters, ...ok(list(record)) } } })
  await sandbox.call('/v1/disks', { method: 'POST', body: '{"size":9007199254740993}' })
  expect((await sandbox.get('/disks?size_gt=9007199254740992')).text).toContain('9007199254740993')
})

describe('lists are filtered by', () => {
  const instant = { ...text, format: 'date-time' }
  const day = { ...text, format: 'date' }
  const bounds = object({ gt: integer, gte: integer, lt: integer, lte: integer })
  const deep = (schema: object) => [{ ...inQuery('size', schema), style: 'deepObject', explode: true }]
  const span = (name: string) => [inQuery(`start${name}`, instant), inQuery(`end${name}`, instant)]

  it.each<[string, readonly object[], string, readonly number[]]>([
    ['bounds, or a value, as in Stripe', deep({ anyOf: [bounds, integer] }), 'size[gte]=2&size[lt]=4', [2]],
    ['that value', deep({ anyOf: [bounds, integer] }), 'size=4', [3]],
    ['bounds', deep(bounds), 'size[gt]=2', [3]],
    ['a bound in a name', [inQuery('size_lte')], 'size_lte=2', [2, 1]],
    ['a bound in a text', [inQuery('size__gt', text)], 'size__gt=2', [3]],
    ['a day of an instant', [inQuery('startAt', day)], 'startAt=2026-11-10', [1]],
    ['a bound that is a day', [inQuery('startAt[lte]', day)], 'startAt[lte]=2026-11-20', [2, 1]],
    ['a bound in another zone', [inQuery('startAt[gte]', instant)], 'startAt[gte]=2026-11-20T11:00:00%2B02:00', [3, 2]],
    ['the least of a number', [inQuery('min_size')], 'min_size=2', [3, 2]],
    ['the most of a number', [inQuery('sizeMax')], 'sizeMax=2', [2, 1]],
    [
      'days from and to',
      [inQuery('startFrom', day), inQuery('startTo', day)],
      'startFrom=2026-11-11&startTo=2026-11-20',
      [2],
    ],
    ['instants after', [inQuery('start_at_after', instant)], 'start_at_after=2026-11-20T09:00:00Z', [3, 2]],
    ['days until', [inQuery('startUntil', day)], 'startUntil=2026-11-20', [2, 1]],
    ['days before, of what may be null', [inQuery('dueBefore', day)], 'dueBefore=2026-11-20', [2, 1]],
    ['a span', span('At'), 'startAt=2026-11-10T10:30:00Z&endAt=2026-11-20T09:00:00Z', [2, 1]],
    ['the start of a span', span('At'), 'startAt=2026-11-15T00:00:00Z', [3, 2]],
  ])('%s', async (_what, parameters, query, ids) => {
    const dueAt = { anyOf: [instant, { type: 'null' }] }
    const sent = { size: integer, startAt: instant, endAt: nullable(instant), dueAt }
    const record = object({ id: integer, ...sent }, ['id'])
    const post = { ...takes(object(sent)), ...ok(record, 201) }
    const sandbox = await openContract({ '/events': { post, get: { parameters, ...ok(list(record)) } } })
    const events = [
      { size: 1, startAt: '2026-11-10T10:00:00Z', endAt: '2026-11-10T11:00:00Z' },
      { size: 2, startAt: '2026-11-20T09:00:00Z', endAt: null },
      { size: 4, startAt: '2026-12-01T00:00:00Z', endAt: '2026-12-02T00:00:00Z' },
    ]
    for (const event of events) await sandbox.post('/events', { ...event, dueAt: event.startAt })
    const { json: found } = await sandbox.get(`/events?${query}`)
    expect((found as object[]).map((event) => Object(event).id)).toEqual(ids)
    expect(sandbox.warnings).toEqual([])
  })
})

it('lists are filtered by the id or the name of an object', async () => {
  const user = object({ id: integer, login: text }, ['id', 'login'])
  const sent = { assignee: { anyOf: [user, { type: 'null' }] }, reviewers: list(user) }
  const issue = object({ id: integer, ...sent }, ['id'])
  const parameters = [inQuery('assignee', text), inQuery('assignee_id'), inQuery('reviewers', text)]
  const sandbox = await openContract({
    '/issues': { post: { ...takes(object(sent)), ...ok(issue, 201) }, get: { parameters, ...ok(list(issue)) } },
  })
  const [ann, bob] = [
    { id: 7, login: 'ann' },
    { id: 8, login: 'bob' },
  ]
  await sandbox.post('/issues', { assignee: ann, reviewers: [bob] })
  await sandbox.post('/issues', { assignee: bob, reviewers: [ann, bob] })
  await sandbox.post('/issues', {})
  const idsBy = async (query: string) =>
    ((await sandbox.get(`/issues?${query}`)).json as object[]).map((issue) => Object(issue).id)
  expect(await idsBy('assignee=ann')).toEqual([1])
  expect(await idsBy('assignee=8')).toEqual([2])
  expect(await idsBy('assignee_id=8')).toEqual([2])
  expect(await idsBy('reviewers=bob')).toEqual([2, 1])
  expect(await idsBy('reviewers=eve')).toEqual([])
})

it.each([
  ['a date', nullable({ ...text, format: 'date' }), '2026-01-31'],
  ['a choice', { ...nullable(text), enum: ['open', null] }, 'open'],
  ['a date or null', { anyOf: [{ ...text, format: 'date' }, { type: 'null' }] }, '2026-01-31'],
])('null in a query is null where no text of the schema is: %s', async (_what, schema, value) => {
  const record = object({ id: integer, due: schema }, ['id'])
  const paths = {
    '/tasks': {
      post: { ...takes(object({ due: schema })), ...ok(record, 201) },
      get: { parameters: [inQuery('due', schema)], ...ok(list(record)) },
    },
  }
  const sandbox = await openContract(paths)
  for (const due of [value, null]) await sandbox.post('/tasks', { due })
  const found = async (query: string) => (await sandbox.get(`/tasks?${query}`)).json
  expect(await found('due=null')).toEqual([{ id: 2, due: null }])
  expect(await found(`due=${value}`)).toEqual([{ id: 1, due: value }])
  expect(await found('due=')).toHaveLength(2)
  expect((await sandbox.get('/tasks?due=nil')).status).toBe(400)
})

describe('parameters of pages with the name of a property', () => {
  const choices = { ...text, enum: ['asc', 'desc'], default: 'asc' }

  it.each<[string, readonly object[], string, readonly unknown[]]>([
    [
      'size',
      [inQuery('page', { ...integer, default: 0 }), inQuery('size', { ...integer, default: 20 })],
      'size=1',
      [7],
    ],
    ['limit', [inQuery('offset'), inQuery('limit', { ...integer, default: 50 })], 'limit=1&offset=1', [9]],
    ['page', [inQuery('page', { ...integer, default: 1 }), inQuery('per_page')], 'page=2&per_page=1', [9]],
    ['order', [inQuery('sort', text), inQuery('order', choices)], 'sort=order&order=desc', [9, 7]],
    ['filters stay: size', [inQuery('page'), inQuery('limit'), inQuery('size')], 'size=9&limit=1', [9]],
    ['filters stay: limit', [inQuery('limit')], 'limit=9', [9]],
  ])('%s', async (what, parameters, query, expected) => {
    const property = what.replace(/.* /, '')
    const record = object({ id: integer, [property]: integer }, ['id'])
    const post = { ...takes(object({ [property]: integer })), ...ok(record, 201) }
    const sandbox = await openContract({ '/cards': { post, get: { parameters, ...ok(list(record)) } } })
    expect(sandbox.mocked).toEqual({})
    const valuesOf = (records: unknown) => (records as object[]).map((value) => Object(value)[property])
    for (const value of [9, 7]) await sandbox.post('/cards', { [property]: value })
    expect(valuesOf((await sandbox.get('/cards')).json)).toHaveLength(2)
    expect(valuesOf((await sandbox.get(`/cards?${query}`)).json)).toEqual(expected)
    // What the parameter is without a value fills no record.
    expect((await sandbox.post('/cards', {})).json).toEqual({ id: 3 })
  })
})

it('the documented headers of a page have the values that its envelope would have', async () => {
  const headers = { 'Content-Range': { required: true, schema: text }, 'X-Trace': { schema: text } }
  for (const name of ['Total-Count', 'Total-Pages', 'Page', 'Per-Page', 'Next-Page', 'Prev-Page'])
    Object.assign(headers, { [`X-${name}`]: { schema: integer } })
  const sandbox = await openBugs([inQuery('page'), inQuery('per_page')], list(bug), headers)
  const seen = async (search: string) => {
    const response = await sandbox.get(`/bugs${search}`)
    const names = ['content-range', ...['total-count', 'total-pages', 'page', 'per-page', 'next-page', 'prev-page']]
    return names.map((name, index) => response.headers.get(index === 0 ? name : `x-${name}`))
  }
  expect(await seen('?page=1&per_page=2')).toEqual(['bugs 0-1/3', '3', '2', '1', '2', '2', null])
  expect(await seen('?page=2&per_page=2')).toEqual(['bugs 2-2/3', '3', '2', '2', '2', null, '1'])
  expect(await seen('?page=3&per_page=2')).toEqual(['bugs */3', '3', '2', '3', '2', null, '2'])
})
