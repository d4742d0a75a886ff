import { useState } from 'preact/hooks'

/** An action of a control, and its result. */
export interface Action {
  /** Does it. @returns whether it was done; why not is in `error` */
  run(act: () => Promise<unknown>): Promise<boolean>
  readonly error: string | undefined
  readonly isBusy: boolean
}

/** For one control or form: errors show where they were caused. */
export function useAction(): Action {
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
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
