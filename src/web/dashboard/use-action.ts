import { useEffect, useState } from 'preact/hooks'
import { useDashboard } from './session-context.js'

/** An action of a control, and its result. */
export interface Action {
  /** Does it. @returns whether it was done; why not is in `error` */
  run(act: () => Promise<unknown>): Promise<boolean>
  readonly error: string | undefined
  readonly isBusy: boolean
}

/** For one control or form: errors show where they were caused, until what they say is over, or Escape. */
export function useAction(): Action {
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const connection = useDashboard(({ connection }) => connection)
  // Whatever went wrong, it is another sandbox now, or it is back.
  useEffect(() => setError(undefined), [connection])
  useEffect(() => {
    if (error === undefined) return
    const listen = ({ key }: KeyboardEvent) => key === 'Escape' && setError(undefined)
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [error])
  return {
    error,
    isBusy,
    async run(act) {
      setBusy(true)
      setError(undefined)
      try {
        await act()
        return true
      } catch (failure) {
        setError(failure instanceof Error ? failure.message : String(failure))
        return false
      } finally {
        setBusy(false)
      }
    },
  }
}
