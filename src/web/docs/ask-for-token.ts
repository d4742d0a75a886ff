import { controlToken, keepControlToken } from '../control-token.js'
import { childOf, elementOf } from './element-of.js'

/** Asks for the control token; resolves when there is one to try. */
export function askForToken(): Promise<void> {
  const form = elementOf('token')
  const input = childOf(form, 'input')
  childOf(form, 'p').textContent =
    controlToken() === null ? '' : 'The sandbox rejected this token. Enter the one given to --control-token.'
  form.hidden = false
  input.select()
  input.focus()
  return new Promise((resolve) => {
    const take = (event: Event) => {
      event.preventDefault()
      keepControlToken(input.value)
      form.hidden = true
      resolve()
    }
    form.addEventListener('submit', take, { once: true })
  })
}
