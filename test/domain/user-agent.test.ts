import { expect, it } from 'vitest'
import { productOf } from '../../src/domain/user-agent.js'

const MOZILLA = 'Mozilla/5.0 (X11; Linux x86_64)'
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'

it.each([
  ['curl', 'curl/8.5.0'],
  ['node', 'node'],
  ['python-requests', 'python-requests/2.32.3'],
  ['Chrome', `${MOZILLA} ${WEBKIT} Chrome/141.0.0.0 Safari/537.36`],
  ['Chrome', `${MOZILLA} ${WEBKIT} HeadlessChrome/141.0.0.0 Safari/537.36`],
  ['Edge', `${MOZILLA} ${WEBKIT} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0`],
  ['Opera', `${MOZILLA} ${WEBKIT} Chrome/141.0.0.0 Safari/537.36 OPR/120.0.0.0`],
  ['Firefox', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  ['Safari', 'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15'],
  ['Chrome', 'Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0 Mobile/15E148 Safari/604.1'],
])('a client is called %s', (name, userAgent) => expect(productOf(userAgent)).toBe(name))
