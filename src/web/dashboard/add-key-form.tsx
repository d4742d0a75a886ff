import { PLAN_NAMES } from '../../domain/keys.js'
import { Form } from './form.js'
import { useSession } from './session-context.js'

export function AddKeyForm() {
  const session = useSession()
  return (
    <Form
      label="Add a key"
      send={(field) => {
        const key = field('key') ?? ''
        const plan = PLAN_NAMES.find((name) => name === field('plan')) ?? 'free'
        return session.call('keys.add', { key, plan }, `The key ${key} is added.`)
      }}
    >
      <label>
        New key
        <input name="key" required autocomplete="off" spellcheck={false} />
      </label>
      <label>
        Plan
        <select name="plan">
          {PLAN_NAMES.map((plan) => (
            <option key={plan}>{plan}</option>
          ))}
        </select>
      </label>
      <button type="submit">Add key</button>
    </Form>
  )
}
