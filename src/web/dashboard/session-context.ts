import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { DashboardState } from './dashboard-state.js'
import type { Session } from './session.js'
import { useStore } from './store.js'

const SessionContext = createContext<Session | undefined>(undefined)
export const SessionProvider = SessionContext.Provider

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('There is no session round this component.')
  return session
}

/** A part of what the page shows, as it is now. */
export function useDashboard<Part>(select: (state: DashboardState) => Part): Part {
  return useStore(useSession().store, select)
}
