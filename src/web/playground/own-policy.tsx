import { Field, Form } from '../ui.js'
import { MAX_POLICY_LENGTH, POLICY_NAMES, readPolicy } from './policy.js'
import { change } from './run.js'

export function OwnPolicy({ policy }: { readonly policy: string }) {
  return (
    <Form
      class="row"
      keeps
      send={async (field) => {
        const wait = field('wait') ?? ''
        readPolicy(wait)
        void change({ wait })
      }}
    >
      <Field
        key={policy}
        class="grow mono"
        aria-label="Seconds to wait after a failed request"
        aria-describedby="policy-help"
        name="wait"
        defaultValue={policy}
        maxLength={MAX_POLICY_LENGTH}
        autocapitalize="off"
      />
      <button type="submit">Try it</button>
      <p id="policy-help" class="muted">
        In seconds, from {POLICY_NAMES.join(', ')}, min, max and ? :
      </p>
    </Form>
  )
}
