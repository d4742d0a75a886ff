import { useEffect, useRef, useState } from 'preact/hooks'
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

/** A value that shows at once what was asked for, and falls back to what is if that is refused. */
export interface Optimistic<Value> {
  readonly shown: Value
  /** Asks for another one. */
  ask(wanted: Value, act: () => Promise<unknown>): void
  /** Tells why it was refused. */
  readonly action: Action
}

/** @param value as the sandbox has it */
export function useOptimistic<Value>(value: Value): Optimistic<Value> {
  const action = useAction()
  const [asked, setAsked] = useState<{ readonly value: Value }>()
  const last = useRef(0)
  return {
    shown: asked === undefined ? value : asked.value,
    action,
    ask(wanted, act) {
      const number = ++last.current
      setAsked({ value: wanted })
      // Whoever asked again meanwhile is shown that.
      void action.run(act).then(() => number === last.current && setAsked(undefined))
    },
  }
}
