import { ConductSection } from './conduct-section.js'
import { FaultsSection } from './faults-section.js'
import { Header } from './header.js'
import { KeysSection } from './keys-section.js'
import { Notices } from './notice.js'
import { PetsSection } from './pets-section.js'
import { ScenariosSection } from './scenarios-section.js'
import { SectionLinks } from './section-links.js'
import type { Session } from './session.js'
import { SessionProvider } from './session-context.js'
import { SettingsSections } from './settings-section.js'
import { SnapshotsSection } from './snapshots-section.js'
import { SpacesSection } from './spaces-section.js'
import { StormSection } from './storm-section.js'
import { TokenDialog } from './token-dialog.js'
import { Traffic } from './traffic.js'
import { TrafficChart } from './traffic-chart.js'

/** The whole page: what happens, what decides it, and what there is. */
export function Dashboard({ session }: { readonly session: Session }) {
  return (
    <SessionProvider value={session}>
      <Header />
      <SectionLinks />
      <Notices />
      <main>
        <div class="happens">
          <TrafficChart />
          <Traffic />
        </div>
        <div class="decides">
          <StormSection />
          <KeysSection />
          <FaultsSection />
          <SettingsSections />
          <ScenariosSection />
        </div>
        <div class="holds">
          <PetsSection />
          <ConductSection />
          <SnapshotsSection />
          <SpacesSection />
        </div>
      </main>
      <TokenDialog />
    </SessionProvider>
  )
}
