import { banHammered } from './experiments/ban-hammered.js'
import { clockUnderLoad } from './experiments/clock-under-load.js'
import { conductUnderLoad } from './experiments/conduct-under-load.js'
import { damagedSnapshots } from './experiments/damaged-snapshots.js'
import { damagedStore } from './experiments/damaged-store.js'
import { fullDisk } from './experiments/full-disk.js'
import { fullStore } from './experiments/full-store.js'
import { halfClosedSockets } from './experiments/half-closed-sockets.js'
import { headsOfTheStream } from './experiments/heads-of-the-stream.js'
import { hostileBodies } from './experiments/hostile-bodies.js'
import { hostileContracts } from './experiments/hostile-contracts.js'
import { hostilePages } from './experiments/hostile-pages.js'
import { hostileServers } from './experiments/hostile-servers.js'
import { irregularFiles } from './experiments/irregular-files.js'
import { killWhileFolding } from './experiments/kill-while-folding.js'
import { killWhileStarting } from './experiments/kill-while-starting.js'
import { killWhileWriting } from './experiments/kill-while-writing.js'
import { manyConnections } from './experiments/many-connections.js'
import { manyKeysAndSpaces } from './experiments/many-keys-and-spaces.js'
import { otherPets } from './experiments/other-pets.js'
import { pathTraversal } from './experiments/path-traversal.js'
import { prototypeKeys } from './experiments/prototype-keys.js'
import { readOnlyFolder } from './experiments/read-only-folder.js'
import { removedFolder } from './experiments/removed-folder.js'
import { replicasLostEnd } from './experiments/replicas-lost-end.js'
import { replicasOnHosts } from './experiments/replicas-on-hosts.js'
import { replicasOneQuota } from './experiments/replicas-one-quota.js'
import { replicasRollingRestart } from './experiments/replicas-rolling-restart.js'
import { replicasThroughEverything } from './experiments/replicas-through-everything.js'
import { requestSmuggling } from './experiments/request-smuggling.js'
import { secrets } from './experiments/secrets.js'
import { slowReaders } from './experiments/slow-readers.js'
import { slowSenders } from './experiments/slow-senders.js'
import { slowStreamReader } from './experiments/slow-stream-reader.js'
import { stalledReaders } from './experiments/stalled-readers.js'
import { stalledSenders } from './experiments/stalled-senders.js'
import { stopUnderLoad } from './experiments/stop-under-load.js'
import { unusualRequests } from './experiments/unusual-requests.js'
import { wireFuzz } from './experiments/wire-fuzz.js'
import type { Experiment } from './trial.js'

/** Every experiment by the name of its file, in the order in which they are gone through. */
export const EXPERIMENTS: Readonly<Record<string, Experiment>> = {
  'kill-while-writing': killWhileWriting,
  'kill-while-folding': killWhileFolding,
  'kill-while-starting': killWhileStarting,
  'damaged-store': damagedStore,
  'damaged-snapshots': damagedSnapshots,
  'full-disk': fullDisk,
  'full-store': fullStore,
  'read-only-folder': readOnlyFolder,
  'removed-folder': removedFolder,
  'irregular-files': irregularFiles,
  'stop-under-load': stopUnderLoad,
  'clock-under-load': clockUnderLoad,
  'many-connections': manyConnections,
  'slow-senders': slowSenders,
  'slow-readers': slowReaders,
  'slow-stream-reader': slowStreamReader,
  'stalled-senders': stalledSenders,
  'stalled-readers': stalledReaders,
  'heads-of-the-stream': headsOfTheStream,
  'wire-fuzz': wireFuzz,
  'half-closed-sockets': halfClosedSockets,
  'request-smuggling': requestSmuggling,
  'unusual-requests': unusualRequests,
  'hostile-bodies': hostileBodies,
  'hostile-contracts': hostileContracts,
  'other-pets': otherPets,
  'hostile-servers': hostileServers,
  'prototype-keys': prototypeKeys,
  'path-traversal': pathTraversal,
  'many-keys-and-spaces': manyKeysAndSpaces,
  'ban-hammered': banHammered,
  'conduct-under-load': conductUnderLoad,
  'hostile-pages': hostilePages,
  secrets,
  'replicas-one-quota': replicasOneQuota,
  'replicas-rolling-restart': replicasRollingRestart,
  'replicas-lost-end': replicasLostEnd,
  'replicas-on-hosts': replicasOnHosts,
  'replicas-through-everything': replicasThroughEverything,
}
