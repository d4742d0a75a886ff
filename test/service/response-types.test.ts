import { describe, expect, it } from 'vitest'
import { shared, transports } from '../support/transports.js'

const NO_SCRIPT = 'sandbox allow-forms allow-popups'

describe.each(transports)('the media type of a response, %s', (_name, openSandbox) => {
  const open = shared(openSandbox, {})

  async function sent(headers: Readonly<Record<string, string>>) {
    const sandbox = await open()
    const rule = { operation: 'listPets', fault: 'status', status: 200, body: '<b>', headers }
    await sandbox.control('PUT', '/faults?space=types', [rule])
    const response = await sandbox.get('/pets', 'sandbox~types')
    expect([response.status, response.headers.get('x-content-type-options')]).toEqual([200, 'nosniff'])
    return { type: response.headers.get('content-type'), policy: response.headers.get('content-security-policy') }
  }

  it.each([
    ...['application/json', 'application/problem+json; charset=utf-8', 'text/plain', 'Text/CSV;charset=latin1'],
    ...['application/octet-stream', 'application/pdf', 'image/png', 'image/x-icon', 'audio/mpeg', 'video/mp4'],
    'font/woff2',
  ])('needs no policy if it is %s', async (type) => {
    expect(await sent({ 'Content-Type': type })).toEqual({ type, policy: null })
  })

  it.each([
    ...[
      'text/html',
      'TEXT/HTML; charset=utf-8',
      'image/svg+xml',
      'application/xhtml+xml',
      'application/xml',
      'text/xml',
    ],
    ...[
      'image/x+xml',
      'font/x+xml',
      'text/xsl',
      'text/javascript',
      'application/x+json+xml',
      'multipart/x-mixed-replace',
    ],
    // Browsers use the last type of a list.
    ...[
      'text/plain, text/html',
      'image/png;a=b,text/html',
      'application/json,text/html',
      'html',
      'text/plain/text/html',
    ],
  ])('keeps browsers from running scripts if it is %s', async (type) => {
    expect(await sent({ 'content-type': type })).toEqual({ type, policy: NO_SCRIPT })
  })

  it('is text/plain if it is empty', async () => {
    expect(await sent({ 'Content-Type': '' })).toEqual({ type: 'text/plain', policy: null })
  })

  it('adds to a policy of the response', async () => {
    const { policy } = await sent({ 'Content-Type': 'text/html', 'Content-Security-Policy': "default-src 'self'" })
    expect(policy?.split(', ').sort()).toEqual(["default-src 'self'", NO_SCRIPT])
  })

  it('is never guessed by browsers, also without a body', async () => {
    const sandbox = await open()
    const cors = { origin: 'http://a.example', 'access-control-request-method': 'GET' }
    for (const response of [
      await sandbox.call('/v1/pets', { method: 'HEAD', key: 'sandbox' }),
      await sandbox.get('/nothing'),
      await sandbox.get('/pets', null),
      await sandbox.call('/v1/pets', { method: 'OPTIONS', headers: cors }),
    ])
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })
})
