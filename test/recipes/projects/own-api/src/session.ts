import { client } from '../client/booking/client.gen'
import { loginTokenPost } from '../client/booking/sdk.gen'

/** Logs in, and sends the token with all later requests. @throws Error with the reason of the service */
export async function logIn(baseUrl: string, username: string, password: string): Promise<void> {
  client.setConfig({ baseUrl, auth: undefined })
  const { data, error } = await loginTokenPost({ body: { username, password } })
  if (data === undefined) throw new Error(String(Object(error).detail ?? error))
  client.setConfig({ auth: data.access_token })
}
