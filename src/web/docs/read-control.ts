import { controlHeaders } from '../control-token.js'

/** The control plane requires its token, or for another one than was sent. */
export class TokenNeeded extends Error {}

/**
 * Reads JSON from the control plane.
 *
 * @param path relative to the page: `state`
 * @throws TokenNeeded; Error with a message to show otherwise
 */
export async function readControl(path: string): Promise<unknown> {
  let response: Response
  try {
    response = await fetch(path, { headers: controlHeaders() })
  } catch (error) {
    throw new Error('The sandbox does not answer. Start it again, then reload this page.', { cause: error })
  }
  if (response.status === 401) throw new TokenNeeded('The control plane requires its token.')
  const body = await response.json()
  if (!response.ok) throw new Error(`The sandbox refuses: ${body.message}`)
  return body
}
