import { useSignal } from '@preact/signals'
import { useEffect, useId } from 'preact/hooks'
import { messageOf } from '../format.js'
import { MAX_POLICY_LENGTH, POLICY_NAMES, readPolicy } from './policy.js'
import { change } from './run.js'

export function OwnPolicy({ policy }: { readonly policy: string }) {
  const id = useId()
  const text = useSignal(policy)
  const error = useSignal('')
  useEffect(() => {
    text.value = policy
  }, [policy])
  function submit(event: SubmitEvent) {
    event.preventDefault()
    error.value = ''
    try {
      readPolicy(text.value)
      void change({ wait: text.value })
    } catch (problem) {
      error.value = messageOf(problem)
    }
  }
  return (
    <form onSubmit={submit}>
      <label for={id}>Seconds to wait after a failed request</label>
      <div class="row">
        <input
          id={id}
          class="mono"
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value
          }}
          maxLength={MAX_POLICY_LENGTH}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-invalid={error.value !== ''}
          aria-describedby={`${id}-help`}
        />
        <button type="submit">Try it</button>
      </div>
      <p id={`${id}-help`} class={error.value === '' ? 'muted' : 'error'} role="status">
        {error.value || `Use ${POLICY_NAMES.join(', ')}, min, max and ? :`}
      </p>
    </form>
  )
}
