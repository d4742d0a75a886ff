import { Field, Form } from '../ui.js'
import { MAX_POLICY_LENGTH, POLICY_NAMES, readPolicy } from './policy.js'
import { change } from './run.js'

export function OwnPolicy({ policy }: { readonly policy: string }) {
  return (
    <Form
      class="stack"
      keeps
      send={async (field) => {
        const wait = field('wait') ?? ''
        readPolicy(wait)
        void change({ wait })
      }}
    >
      <Field
        key={policy}
        label="Seconds to wait after a failed request"
        class="stacked"
        name="wait"
        defaultValue={policy}
        maxLength={MAX_POLICY_LENGTH}
        autocapitalize="off"
        aria-describedby="policy-help"
      />
      <button type="submit">Try it</button>
      <p id="policy-help" class="muted">
        Use {POLICY_NAMES.join(', ')}, min, max and ? :
      </p>
    </Form>
  )
}
