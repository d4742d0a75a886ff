import { DeviationBar } from './deviation-bar.js'
import { Header } from './header.js'
import { HelpDialog } from './help-dialog.js'
import { Notices } from './notice.js'
import { Panels } from './panels.js'
import { ReplayDialog } from './replay-dialog.js'
import type { Session } from './session.js'
import { SessionProvider } from './session-context.js'
import { ToastView } from './toast-view.js'
import { TokenDialog } from './token-dialog.js'
import { Traffic } from './traffic.js'
import { TrafficChart } from './traffic-chart.js'

/** The whole page: what happens on the left, what decides it on the right. */
export function Dashboard({ session }: { readonly session: Session }) {
  return (
    <SessionProvider value={session}>
      <Header />
      <DeviationBar />
      <Notices />
      <Panels
        log={
          <div class="happens">
            <TrafficChart />
            <Traffic />
          </div>
        }
      />
      <ToastView />
      <ReplayDialog />
      <HelpDialog />
      <TokenDialog />
    </SessionProvider>
  )
}
